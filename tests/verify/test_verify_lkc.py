"""The judge of LKC-privacy against its definition, the paper's tables, and its special cases."""

from __future__ import annotations

import itertools
import random
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from handmade_release import (
    SAID,
    csv_text,
    described,
    in_order,
    make_release,
    read_manifest,
    write_manifest,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.errors import EngineError
from incrowd.verify import Finding, verify
from incrowd.verify.counting import combinations
from incrowd.verify.counting.groups import PublishedGroups, build_groups
from incrowd.verify.counting.records import TABLE, PublishedRecords

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Rows = list[tuple[str, ...]]


def of_attributes(rows: Rows, chosen: Sequence[int]) -> dict[tuple[str, ...], Counter[str]]:
    """The sensitive values (the last cell) of the records that share each combination of cells."""
    found: dict[tuple[str, ...], Counter[str]] = {}
    for row in rows:
        found.setdefault(tuple(row[at] for at in chosen), Counter())[row[-1]] += 1
    return found


def share(group: Counter[str], values: Sequence[str] | None) -> Fraction:
    kept = group if values is None else values
    return max((Fraction(group[value], group.total()) for value in kept), default=Fraction(0))


def by_definition(rows: Rows, known: int, values: Sequence[str] | None) -> tuple[int, Fraction]:
    """The smallest crowd and the largest confidence over all combinations of at most L values."""
    width = len(rows[0]) - 1
    groups = [
        group
        for size in range(min(known, width) + 1)
        for chosen in itertools.combinations(range(width), size)
        for group in of_attributes(rows, chosen).values()
    ]
    return min(group.total() for group in groups), max(share(group, values) for group in groups)


def longest(rows: Rows, known: int) -> list[tuple[tuple[int, ...], Counter[str]]]:
    """The combinations that are counted, with their attributes: the longest that vary."""
    width = len(rows[0]) - 1
    varied = [at for at in range(width) if len({row[at] for row in rows}) > 1]
    return [
        (chosen, group)
        for chosen in itertools.combinations(varied, min(known, len(varied)))
        for group in of_attributes(rows, chosen).values()
    ]


def lkc(known: object, k: object, c: object = 1, **more: object) -> dict[str, Any]:
    parameters = {"L": known, "K": k, "C": c, "sensitive": None, "values": None, **more}
    return {"model": "lkc", "parameters": parameters}


def promise(model: str, **parameters: object) -> dict[str, Any]:
    return {"model": model, "parameters": parameters}


def judge(rows: Rows, *promises: dict[str, Any]) -> list[Finding]:
    """The findings on a release whose last column is the sensitive attribute 'ill'."""
    quasi = [f"q{at}" for at in range(len(rows[0]) - 1)]
    with tempfile.TemporaryDirectory() as folder:
        made = make_release(
            Path(folder) / "release",
            [*quasi, "ill"],
            rows,
            quasi=quasi,
            sensitive=["ill"],
            promises=promises,
        )
        verdict = verify(made)
    others = verdict.findings[: -len(promises)]
    assert all(finding.holds for finding in others if finding.promise != SAID), others
    return list(verdict.findings[-len(promises) :])


CELLS = ("", "{a|b}", "{A|b}", "{a|b} ")
tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.tuples(
            *(st.sampled_from(CELLS[: 1 + at % 4]) for at in range(width)),
            st.sampled_from(("", "flu", "cold", "NA")),
        ),
        min_size=1,
        max_size=25,
    )
)


@settings(max_examples=50)
@given(
    rows=tables,
    known=st.integers(1, 7),
    k=st.integers(1, 6),
    c=st.sampled_from(("0.1", "0.25", "0.5", "0.75", "1")),
)
def test_agrees_with_the_definition(rows: Rows, known: int, k: int, c: str) -> None:
    listed = ["flu", "never", ""]
    sizes, any_value, some_values = judge(
        rows,
        lkc(known, k),
        lkc(known, k, float(c), sensitive="ill"),
        lkc(known, k, float(c), sensitive="ill", values=listed),
    )
    counted = [group for _, group in longest(rows, known)]
    smallest, _ = by_definition(rows, known, None)
    small = sum(group.total() < k for group in counted)
    assert sizes.measured == {"K": smallest, "groups_failing": small}
    assert sizes.holds == (smallest >= k)
    for finding, values in ((any_value, None), (some_values, listed)):
        smallest, largest = by_definition(rows, known, values)
        failing = sum(g.total() < k or share(g, values) > Fraction(c) for g in counted)
        assert finding.measured.keys() == {"K", "C", "groups_failing"}
        assert finding.measured["K"] == smallest
        assert finding.measured["C"] == pytest.approx(float(largest), rel=1e-11)
        assert finding.measured["groups_failing"] == failing
        assert finding.holds == (smallest >= k and largest <= Fraction(c))


@settings(max_examples=25)
@given(rows=tables, k=st.integers(1, 4), c=st.sampled_from((0.25, 0.5, 0.75, 1.0)))
def test_special_cases_agree_with_their_own_judges(rows: Rows, k: int, c: float) -> None:
    everything = len(rows[0]) - 1
    listed = {"sensitive": "ill", "values": ["flu", "NA"]}
    found = judge(
        rows,
        promise("k-anonymity", k=k),
        lkc(everything, k),
        promise("confidence-bounding", C=c, **listed),
        lkc(everything, 1, c, **listed),
        promise("alpha-k", alpha=c, k=k, sensitive="ill", values=None),
        lkc(everything, k, c, sensitive="ill"),
    )
    for own, as_lkc in zip(found[::2], found[1::2], strict=True):
        assert own.holds == as_lkc.holds
        renamed = {"k": "K", "alpha": "C"}
        expected = {renamed.get(name, name): value for name, value in own.measured.items()}
        assert expected.items() <= as_lkc.measured.items()


def counted_groups(
    connection: duckdb.DuckDBPyConnection, rows: Rows, times: int = 1
) -> PublishedGroups:
    """The groups of a table that no file holds, with each record there so many times."""
    width = len(rows[0])
    columns = ", ".join(f"c{at} VARCHAR" for at in range(width))
    connection.execute(f"CREATE TABLE cells ({columns})")
    connection.executemany(f"INSERT INTO cells VALUES ({', '.join('?' * width)})", rows)
    connection.execute(
        f"CREATE TABLE {TABLE} AS SELECT *, {times} * count(*) AS n FROM cells GROUP BY ALL"
    )
    names = tuple(f"q{at}" for at in range(width - 1))
    records = PublishedRecords(connection, (*names, "ill"), (*names, "ill"), times * len(rows), 0)
    return build_groups(records, names, ["ill"])


@pytest.mark.parametrize("seed", range(12))
def test_all_ways_of_counting_agree_with_brute_force(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many labels, many values, heavy rows, and subsets parted among threads."""
    if seed % 2:
        monkeypatch.setattr(combinations, "STEPS_AT_ONCE", random.Random(seed).choice((1, 900)))
    draw = random.Random(seed)
    labels = [draw.choice((1, 2, 3, 12, 900 if seed % 3 == 0 else 30)) for _ in range(7)]
    values = draw.choice((1, 2, 15, 100))
    rows: Rows = []
    for _ in range(400):
        row = tuple(str(draw.randrange(many)) for many in (*labels, values))
        rows += [row] * draw.choice((1, 1, 4))
    known, k, limit = draw.randint(1, 5), draw.randint(1, 9), draw.choice((0.2, 0.5, 1.0))
    listed = draw.choice((None, ["0"], ["0", "1", "1", "77", "never"]))
    with duckdb.connect() as connection:
        found = combinations.judge_combinations(
            counted_groups(connection, rows),
            known,
            k=k,
            limit=limit,
            sensitive="ill",
            values=listed,
        )
    expected = longest(rows, known)
    shares = [share(group, listed) for _, group in expected]
    # Both min and max take the first of equals, and the subsets are in lexicographic order.
    size_by, smallest = min(expected, key=lambda each: each[1].total())
    largest = max(range(len(expected)), key=shares.__getitem__)
    assert found == combinations.Combinations(
        smallest=smallest.total(),
        smallest_by=tuple(f"q{at}" for at in size_by),
        largest=float(shares[largest]),
        largest_by=tuple(f"q{at}" for at in expected[largest][0]),
        failing=sum(
            group.total() < k or told > Fraction(limit)
            for (_, group), told in zip(expected, shares, strict=True)
        ),
        count=len(expected),
    )


def test_counts_beyond_32_bits_do_not_overflow() -> None:
    times = 2**31
    rows: Rows = [("a", "x", "flu"), ("a", "x", "gout"), ("a", "y", "flu"), ("b", "y", "flu")]
    with duckdb.connect() as connection:
        groups = counted_groups(connection, rows, times)
        found = combinations.judge_combinations(groups, 1, k=times + 1, limit=0.7, sensitive="ill")
    assert found == combinations.Combinations(times, ("q0",), 1.0, ("q0",), failing=2, count=4)


RAW = (
    ("Janitor", "M", "34", "Y", "Transgender"),
    ("Lawyer", "F", "58", "N", "Plastic"),
    ("Mover", "M", "58", "N", "Urology"),
    ("Lawyer", "M", "24", "N", "Vascular"),
    ("Mover", "M", "34", "Y", "Transgender"),
    ("Janitor", "M", "44", "Y", "Plastic"),
    ("Doctor", "F", "44", "N", "Vascular"),
    ("Doctor", "M", "58", "N", "Plastic"),
    ("Doctor", "M", "24", "N", "Urology"),
    ("Carpenter", "F", "63", "Y", "Vascular"),
    ("Technician", "F", "63", "Y", "Plastic"),
)
JOBS = {
    "Janitor": "Nontechnical",
    "Mover": "Nontechnical",
    "Lawyer": "Professional",
    "Doctor": "Professional",
    "Carpenter": "Technical",
    "Technician": "Technical",
}
SURGERIES = ("job", "sex", "age", "transfuse", "surgery")
PAPER = lkc(2, 2, 0.5, sensitive="surgery", values=["Transgender"])
PAPER_TITLE = "lkc (L=2, K=2, C=0.5, sensitive=surgery, for 1 listed value)"


def age_range(age: str) -> str:
    return "[1-30)" if int(age) < 30 else "[30-60)" if int(age) < 60 else "[60-99)"


TABLE_II = [(JOBS[job], sex, age_range(age), *others) for job, sex, age, *others in RAW]


def surgeries(folder: Path, rows: Sequence[tuple[str, ...]], *promises: dict[str, Any]) -> Path:
    return make_release(
        folder,
        SURGERIES,
        rows,
        quasi=SURGERIES[:3],
        sensitive=SURGERIES[4:],
        promises=promises or [PAPER],
    )


def test_table_ii_of_the_paper_is_private_but_not_2_anonymous(tmp_path: Path) -> None:
    verdict = verify(surgeries(tmp_path, TABLE_II, PAPER, promise("k-anonymity", k=2)))
    private, anonymous = verdict.findings[-2:]
    assert private.promise == PAPER_TITLE
    assert private.holds
    assert private.measured == {"K": 2, "C": 0.5, "groups_failing": 0}
    assert private.detail == (
        "the smallest crowd an attacker who knows 2 values can narrow a patient down to is"
        " 2 records (by 'job', 'sex'), promised at least 2, and a protected value of 'surgery'"
        " can be told with confidence 0.5 (by 'job', 'sex'), promised at most 0.5"
    )
    assert not anonymous.holds
    assert anonymous.measured == {"k": 1, "groups_failing": 1}


def test_table_i_of_the_paper_is_not_private(tmp_path: Path) -> None:
    finding = verify(surgeries(tmp_path, RAW)).findings[-1]
    assert not finding.holds
    # 8 <job, sex> of which 5 are single, 11 <job, age> all single, and 7 <sex, age> of which 3 are
    # single and <M, 34> tells.
    assert finding.measured == {"K": 1, "C": 1.0, "groups_failing": 20}
    assert finding.detail.endswith("(20 of 26 combinations fail)")
    assert not any(cell in finding.detail for row in RAW for cell in row if len(cell) > 1)


def test_a_release_changed_by_a_forger_fails(tmp_path: Path) -> None:
    def forge(rows: list[tuple[str, ...]]) -> dict[str, str]:
        (made / "data.csv").write_bytes(csv_text(SURGERIES, in_order(rows)))
        manifest = read_manifest(made)
        manifest["files"]["data.csv"] |= described(made / "data.csv")
        write_manifest(made, manifest)
        return {each.promise: each.detail for each in verify(made).findings if not each.holds}

    made = surgeries(tmp_path, TABLE_II)
    assert forge(TABLE_II) == {}
    job, sex, age, *others = TABLE_II[-1]
    apart = forge([*TABLE_II[:-1], (job, sex, "[60-70)", *others)])
    assert apart.keys() == {PAPER_TITLE}
    assert "1 record (by 'job', 'age'), promised at least 2" in apart[PAPER_TITLE]
    assert apart[PAPER_TITLE].endswith("(4 of 14 combinations fail)")
    told = forge([*TABLE_II[:-1], (job, sex, age, "Y", "Transgender"), TABLE_II[0]])
    assert told.keys() == {PAPER_TITLE, "records add up"}
    assert "confidence 0.6 (by 'job', 'sex')" in told[PAPER_TITLE]


def test_stated_measurements_are_compared(tmp_path: Path) -> None:
    made = surgeries(tmp_path, TABLE_II)
    for confidence, holds in ((0.5, True), (0.4, False)):
        manifest = read_manifest(made)
        manifest["measured"] = [{"K": 2, "C": confidence, "groups_failing": 0}]
        write_manifest(made, manifest)
        assert verify(made).holds == holds


def test_a_table_that_shows_one_label_is_one_combination() -> None:
    rows: Rows = [("*", "", "flu"), ("*", "", "flu"), ("*", "", "gout")]
    few, told = judge(rows, lkc(4, 4), lkc(1, 3, 0.7, sensitive="ill", values=["flu"]))
    assert few.measured == {"K": 3, "groups_failing": 1}
    assert few.detail == (
        "the smallest crowd an attacker who knows 4 values can narrow a patient down to is"
        " 3 records, promised at least 4 (1 of 1 combination fails)"
    )
    assert told.holds
    assert told.measured == {"K": 3, "C": pytest.approx(2 / 3), "groups_failing": 0}


def test_one_record_is_its_own_crowd() -> None:
    alone, told = judge([("x", "y", "flu")], lkc(2, 1), lkc(1, 1, 0.99, sensitive="ill"))
    assert alone.holds
    assert alone.measured == {"K": 1, "groups_failing": 0}
    assert not told.holds
    assert told.measured == {"K": 1, "C": 1.0, "groups_failing": 1}


def test_slack_forgives_rounding_and_no_more() -> None:
    rows: Rows = [("x", value) for value in ("flu", "ulcer", "NA")]
    third, less = judge(
        rows, lkc(1, 3, 0.3333333333, sensitive="ill"), lkc(1, 3, 0.33333, sensitive="ill")
    )
    assert third.holds
    assert not less.holds


def test_a_quasi_identifier_may_be_the_sensitive_attribute(tmp_path: Path) -> None:
    promises = [lkc(1, 1, 0.9, sensitive="sex"), lkc(3, 1, 1, sensitive="sex")]
    bounded, unbounded = verify(surgeries(tmp_path, TABLE_II, *promises)).findings[-2:]
    assert bounded.measured == {"K": 2, "C": 1.0, "groups_failing": 6}
    assert unbounded.measured == {"K": 1, "C": 1.0, "groups_failing": 0}


def test_wide_tables_are_counted_whole() -> None:
    """More attributes than a machine word has bits, and each pair of labels but one twice."""
    rows: Rows = [(*("ab"[at == one] for at in range(70)), "flu") for one in range(70)] * 2
    rows += [(*"a" * 70, "flu")] * 2
    (found,) = judge(rows, lkc(2, 3))
    # Two labels "b" never meet, so each of 2,415 pairs has "aa", "ab" and "ba".
    assert found.measured == {"K": 2, "groups_failing": 2 * 70 * 69 // 2}
    assert found.detail.endswith("(4,830 of 7,245 combinations fail)")


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (promise("lkc"), "'L' must be a number"),
        (promise("lkc", L=2), "'K' must be a number"),
        (promise("lkc", L=2, K=2), "'C' must be a number"),
        (lkc(0, 2), "'L' must be a number from 1 up"),
        (lkc(1.5, 2), "'L' must be a whole number"),
        (lkc(True, 2), "'L' must be a number"),
        (lkc(10**400, 2), "'L' must be a number from 1 up"),
        (lkc(2, 0), "'K' must be a number from 1 up"),
        (lkc(2, "2"), "'K' must be a number"),
        (lkc(2, None), "'K' must be a number"),
        (lkc(2, 2, 0, sensitive="ill"), "'C' must be above 0"),
        (lkc(2, 2, 1.01, sensitive="ill"), "'C' must be a number from 0 to 1"),
        (lkc(2, 2, [0.5], sensitive="ill"), "'C' must be a number"),
        (lkc(2, 2, 0.5), "a 'C' below 1 needs the column"),
        (lkc(2, 2, 1, values=["flu"]), "'values' needs their column"),
        (lkc(2, 2, 1, sensitive="ill", values=[]), "'values' must be a list"),
        (lkc(2, 2, 1, sensitive="ill", values="flu"), "'values' must be a list"),
        (lkc(2, 2, 1, sensitive="ill", values=[1]), "'values' must be a list"),
        (lkc(2, 2, 1, sensitive="nose"), "no column 'nose'"),
        (lkc(2, 2, 1, sensitive=["ill"]), "must name a column"),
        (lkc(2, 2, 1, sensitive={}), "must name a column"),
    ],
)
def test_a_promise_that_makes_no_sense_fails_alone(broken: dict[str, Any], reason: str) -> None:
    good, bad = judge([("x", "flu"), ("x", "ulcer")], lkc(1, 2), broken)
    assert good.holds
    assert not bad.holds
    assert bad.detail.startswith("cannot judge this model: ")
    assert reason in bad.detail
    assert bad.measured == {}


def test_more_choices_than_can_be_counted_are_refused() -> None:
    rows: Rows = [(*("ab"[at == one] for at in range(80)), "flu") for one in range(3)]
    wide: Rows = [(*"a" * 80, "flu"), (*"b" * 80, "flu")]
    with duckdb.connect() as connection:
        assert combinations.judge_combinations(counted_groups(connection, rows), 40, k=1).count == 3
    (found,) = judge(wide, lkc(40, 1))
    assert not found.holds
    assert "too many choices of 40 among the 80 quasi-identifiers" in found.detail


def test_want_of_memory_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr(combinations, "_judge_part", exhausted)
    with pytest.raises(EngineError, match="Not enough memory"):
        judge([("x", "flu"), ("y", "flu")], lkc(1, 1))


def test_an_interrupt_ends_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[int, ...]] = []

    def parts(*_arguments: object) -> Iterator[tuple[int, ...]]:
        for number in itertools.count():
            drawn.append((number,))
            yield (number,)

    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(combinations, "_parts", parts)
    monkeypatch.setattr(combinations, "_judge_part", interrupted)
    with pytest.raises(KeyboardInterrupt):
        judge([("x", "flu"), ("y", "flu")], lkc(1, 1))
    assert drawn
