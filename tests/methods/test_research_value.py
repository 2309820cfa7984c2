"""The searches for the highest research value against a look at every string."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import lattice_reference as reference
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lattice_reference import Ladder, Levels, Row
from lattice_tables import K, adults, tables
from test_incognito import PROMISES, SMALLEST, bound_to

import incrowd
from incrowd._runtime.progress import silent
from incrowd.errors import ParameterError, PrivacyError
from incrowd.methods.research_value import (
    Alternative,
    ResearchSearch,
    ResearchValueOptions,
    alternatives,
    research_value,
)
from incrowd.methods.research_value import _best_first as best_first
from incrowd.methods.research_value import _distributed as distributed
from incrowd.methods.research_value import _listing as listing
from incrowd.methods.research_value._best_first import BestFirst
from incrowd.methods.research_value._distributed import distributed_search, parts
from incrowd.methods.research_value._strings import Strings
from incrowd.pipeline import Job
from incrowd.report.alternatives import draw_alternatives

EXACT = ("best-first", "global", "hybrid")
Rules = list[tuple[str, str, int]]
Wanted = dict[str, tuple[float, Rules]]


def job_of(rows: list[Row], ladders: list[Ladder], wanted: Wanted, base: float, **more: Any) -> Job:
    attributes: dict[str, Any] = {"ill": "sensitive"}
    for ladder in ladders:
        weight, rules = wanted[ladder.name]
        asked = [{"apart": [one, other], "importance": much} for one, other, much in rules]
        attributes[ladder.name] = {
            "role": "quasi",
            "weight": weight,
            "rules": asked,
            **ladder.spec,
        }
    policy = {"attributes": attributes, "method": "research-value", "rule-base": base, **more}
    names = [*(ladder.name for ladder in ladders), "ill"]
    cells = [{name: row[name] for name in names} for row in rows]
    return Job.begin(pl.DataFrame(cells, dict.fromkeys(names, pl.String)), policy, silent)


def value_of(
    rows: list[Row], ladders: list[Ladder], levels: Levels, wanted: Wanted, base: float
) -> Fraction:
    """The research value of a string, as the thesis writes it down."""
    total = Fraction(0)
    whole = sum(Fraction(weight) for weight, _ in wanted.values())
    for ladder, level in zip(ladders, levels, strict=True):
        weight, rules = wanted[ladder.name]
        cells = [row[ladder.name] for row in rows]
        if ladder.name == "age":
            spans = [_span(ladder, cell, level, None in cells) for cell in cells]
            kept = Fraction(len(cells), sum(spans))
        else:
            shown = {ladder.shown(cell, level) for cell in cells}
            kept = Fraction(len(shown), len(set(cells)))
        held = Fraction(base)
        for one, other, importance in rules:
            if ladder.shown(one, level) != ladder.shown(other, level):
                held += importance
        everything = Fraction(base) + sum(importance for *_, importance in rules)
        total += Fraction(weight) / whole * kept * (held / everything if rules else 1)
    return total


def _span(ladder: Ladder, cell: str | None, level: int, missing: bool) -> int:
    if level == ladder.height:
        return ladder.domain + missing
    return 1 if cell is None or level == 0 else ladder.steps[cell][level - 1][1]


@st.composite
def wishes(draw: st.DrawFn, rows: list[Row], ladders: list[Ladder]) -> tuple[Wanted, float]:
    wanted: Wanted = {}
    for ladder in ladders:
        found = sorted({cell for row in rows if (cell := row[ladder.name]) is not None})
        rules: Rules = []
        if len(found) > 1:
            pair = st.sets(st.sampled_from(found), min_size=2, max_size=2).map(sorted)
            chosen = draw(st.lists(st.tuples(pair, st.sampled_from([1, 5])), max_size=2))
            rules = [(one, other, importance) for (one, other), importance in chosen]
        wanted[ladder.name] = (draw(st.sampled_from([1.0, 1.0, 2.0, 5.0])), rules)
    return wanted, draw(st.sampled_from([0.0, 2.0]))


@settings(max_examples=80)
@given(
    data=st.data(),
    table=tables(),
    promise=st.sampled_from(sorted(PROMISES)),
    limit=st.sampled_from((0.0, 0.0, 0.15, 0.3)),
)
def test_all_exact_searches_find_the_best_of_all_strings(
    data: st.DataObject, table: tuple[list[Row], list[Ladder]], promise: str, limit: float
) -> None:
    rows, ladders = table
    if bound_to(rows, PROMISES[promise][0]) != PROMISES[promise][0]:
        promise = "k-anonymity"
    asked, judges = PROMISES[promise]
    wanted, base = data.draw(wishes(rows, ladders))
    task = job_of(rows, ladders, wanted, base, privacy=asked, suppression=limit).task
    whole = Counter(str(row["ill"]) for row in rows)
    if not all(judge(whole)([str(row["ill"]) for row in rows]) for judge in judges):
        with pytest.raises(PrivacyError, match="cannot be reached"):
            research_value(task)
        return
    held = reference.solutions(rows, ladders, judges, limit, "loss", SMALLEST[promise])
    values = {levels: value_of(rows, ladders, levels, wanted, base) for levels in held}

    def rank(levels: Levels) -> tuple[Fraction, int, int, Levels]:
        roots = sum(level == ladder.height for level, ladder in zip(levels, ladders, strict=True))
        return (-values[levels], roots, sum(levels), levels)

    best = min(held, key=rank)
    for search in get_args(ResearchSearch):
        outcome = research_value(task, ResearchValueOptions(search=search))
        found = tuple(outcome.levels.values())
        assert found in held
        assert outcome.suppressed == held[found].suppressed
        if search in EXACT:
            assert found == best, search
            assert not outcome.remarks
    listed = alternatives(task, n=4)
    minimal = sorted(reference.minimal(held), key=rank)
    assert [tuple(each.levels.values()) for each in listed] == minimal[:4]
    for each in listed:
        levels = tuple(each.levels.values())
        assert each.value == pytest.approx(float(values[levels]))
        assert each.suppressed == held[levels].suppressed
        kept = [
            len(group)
            for group in reference.grouped(rows, ladders, levels).values()
            if len(group) >= SMALLEST[promise]
        ]
        assert (each.groups, each.smallest) == (len(kept), min(kept))
        assert each.average == pytest.approx(sum(kept) / len(kept))
        at_root = zip(levels, ladders, strict=True)
        assert list(each.roots) == [a.name for level, a in at_root if level == a.height]


def adult_task(**more: Any) -> Any:
    rows, ladders = adults(600)
    wanted: Wanted = {"job": (2.0, []), "town": (1.0, []), "age": (3.0, [("39", "40", 5)])}
    return job_of(rows, ladders, wanted, 1.0, privacy=[K], **more).task


def test_few_strings_are_looked_at() -> None:
    strings = Strings(adult_task(suppression=0.05))
    answer = BestFirst(strings).best()
    assert answer.proven
    assert strings.check.looked_at < 4 * 4 * 5


def test_parts_that_are_too_small_still_lead_to_a_string_that_holds() -> None:
    task = adult_task()
    best = BestFirst(Strings(task)).best().found[0]
    for at_once in (1, 5, 1_000):
        found = distributed_search(Strings(task), at_once)
        assert Strings(task).look_at(found.levels).solution
        assert not found.is_better_than(best)
    assert found == best  # all attributes are one part
    assert parts((3, 3, 4), (0, 1, 0), 12) == [[0, 1], [2]]
    assert parts((3, 3, 4), (0, 1, 0), 1) == [[0], [1], [2]]


def test_too_many_combinations_of_parts_end_with_one_that_holds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task = adult_task()
    usual = distributed_search(Strings(task), 5)
    monkeypatch.setattr(distributed, "_MOST_COMBINATIONS", 1)
    found = distributed_search(Strings(task), 5)
    assert Strings(task).look_at(found.levels).solution
    assert not found.is_better_than(usual)
    assert found.score > Strings(task).score(Strings(task).top)


def test_a_search_that_is_cut_short_says_how_much_may_be_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task = adult_task()
    best = BestFirst(Strings(task)).best().found[0]
    monkeypatch.setattr(best_first, "_MOST_CELLS", 0)
    strings = Strings(task)
    answer = BestFirst(strings).best()
    assert strings.look_at(answer.found[0].levels).solution
    assert answer.found[0].score <= best.score <= answer.most
    if not answer.proven:
        found = research_value(task)
        assert "was ended before it could rule out more" in found.remarks[0]
        assert set(found.how) == {"levels"}  # the manifest tells no figure of the source


def test_lists_that_are_too_long_are_refused_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(listing, "MOST_STRINGS", 10)
    for search in ("global", "hybrid"):
        with pytest.raises(ParameterError, match="best-first"):
            research_value(adult_task(), ResearchValueOptions(search=search))


def test_no_alternatives_are_not_asked_for() -> None:
    with pytest.raises(ParameterError, match="at least one"):
        alternatives(adult_task(), n=0)


def test_rules_change_what_is_kept() -> None:
    """Two attributes that cannot be shown together: the one with the rule that would break."""
    frame = pl.DataFrame({"sex": list("FFMM"), "side": list("LRLR")})
    shown = {}
    for ruled in ("sex", "side"):
        attributes: dict[str, Any] = {"sex": {"role": "quasi"}, "side": {"role": "quasi"}}
        values = ["F", "M"] if ruled == "sex" else ["L", "R"]
        attributes[ruled]["rules"] = [{"apart": values, "importance": 3}]
        policy = {
            "attributes": attributes,
            "privacy": [{"k-anonymity": {"k": 2}}],
            "method": "research-value",
        }
        release = incrowd.anonymize(frame, policy)
        shown[ruled] = [name for name in frame.columns if set(release.data[name]) != {"*"}]
    assert shown == {"sex": ["sex"], "side": ["side"]}


def test_the_picture_of_alternatives(tmp_path: Path) -> None:
    listed = alternatives(adult_task(), n=3)
    path = tmp_path / "alternatives.svg"
    draw_alternatives(listed, path)
    text = path.read_text(encoding="utf-8")
    assert "research value" in text
    for each in listed:
        assert each.as_dict()["roots"] == list(each.roots)
        if each.roots:
            assert f"{len(each.roots)} at the root" in text


@pytest.mark.parametrize(
    ("roots", "told"),
    [
        ((), "shows something of every attribute"),
        (("job",), "1 at the root: job"),
        (("job", "age"), "2 at the root; shows town"),
        (("job", "age", "town"), "3 at the root; shows no attribute"),
    ],
)
def test_the_picture_says_the_shorter_of_what_is_shown_and_what_is_not(
    roots: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    levels = {"job": 1, "age": 2, "town": 0}
    each = Alternative(0.5, levels, roots, suppressed=0, groups=3, smallest=2, average=4.0)
    draw_alternatives([each], tmp_path / "one.svg")
    assert told in (tmp_path / "one.svg").read_text(encoding="utf-8")
