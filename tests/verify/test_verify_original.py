"""A release as anatomy judged with the table that it was made from."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import incrowd
from incrowd.errors import IncrowdError, VerificationError
from incrowd.privacy import MultiSensitive
from incrowd.verify import Finding, Verdict

SENSITIVE = ["illness", "drug"]
ORIGINAL = "original is the table it was made from"


def patients(number: int = 200, seed: int = 3) -> pl.DataFrame:
    draw = random.Random(seed)
    return pl.DataFrame(
        {
            "id": range(number),
            "height": [
                draw.choice([None, *(160 + i / 2 for i in range(30))]) for _ in range(number)
            ],
            "born": [
                f"{draw.randint(1, 28):02}.{draw.randint(1, 12):02}.1970" for _ in range(number)
            ],
            "sex": [draw.choice(["F", "M", None]) for _ in range(number)],
            "illness": draw.choices(["flu", "asthma", "ulcer", "gout", None], k=number),
            "drug": draw.choices("abcdef", k=number),
        },
        schema_overrides={"height": pl.Float64},
    )


def policy(**more: Any) -> dict[str, Any]:
    return {
        "attributes": {
            "id": "identifier",
            "height": {"role": "quasi", "type": "numeric"},
            "born": {"role": "quasi", "type": "date", "format": "%d.%m.%Y"},
            "sex": "quasi",
            **dict.fromkeys(SENSITIVE, "sensitive"),
        },
        "privacy": [{"multi-sensitive": {"k": 6, "l": 3, "sensitive": SENSITIVE}}],
        "publish": "anatomy",
        **more,
    }


def finding(verdict: Verdict, promise: str) -> Finding:
    (found,) = [each for each in verdict.findings if each.promise.startswith(promise)]
    return found


def broken(verdict: Verdict) -> list[str]:
    return [each.promise for each in verdict.broken]


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
@pytest.mark.parametrize("missing", ["value", "drop"])
@pytest.mark.parametrize("suppression", [0.0, 0.1])
def test_the_original_settles_what_the_files_leave_open(
    file_format: str, missing: str, suppression: float, tmp_path: Path
) -> None:
    frame = patients()
    frame.write_csv(tmp_path / "data.csv")
    asked = policy(format=file_format, missing=missing, suppression=suppression)
    made = incrowd.anonymize(tmp_path / "data.csv", asked).save(tmp_path / "r")
    assert made.open == ()
    plain = incrowd.verify(tmp_path / "r")
    assert plain.holds
    assert [each.promise for each in plain.open] == ["multi-sensitive (k=6, l=3, check=exact)"]
    assert plain.measured == ({"k": made.groups["smallest"]},)
    for original in (frame, tmp_path / "data.csv"):
        with_it = incrowd.verify(tmp_path / "r", original=original)
        assert with_it.holds
        assert with_it.open == ()
        assert with_it.measured == made.measured


def test_an_original_may_spell_values_in_other_ways(tmp_path: Path) -> None:
    frame = patients().with_columns(
        pl.when(pl.int_range(pl.len()) % 3 == 0)
        .then(pl.format(" {}\u200b", pl.col("illness").str.to_uppercase()))
        .otherwise("illness")
        .alias("illness")
    )
    made = incrowd.anonymize(frame, policy(suppression=0.1)).save(tmp_path / "r")
    with_it = incrowd.verify(tmp_path / "r", original=frame)
    assert with_it.holds
    assert with_it.open == ()
    assert with_it.measured == made.measured
    other = frame.with_columns(pl.col("illness").replace({"gout": "gouts"}))
    assert broken(incrowd.verify(tmp_path / "r", original=other)) == [ORIGINAL]


@given(st.data())
@settings(max_examples=25)
def test_with_the_original_the_judge_measures_what_the_model_does(data: st.DataObject) -> None:
    rows = data.draw(
        st.lists(st.tuples(*(st.sampled_from("abc") for _ in range(3))), min_size=4, max_size=14)
    )
    frame = pl.DataFrame(rows, schema=["q", *SENSITIVE], orient="row")
    asked = {
        "attributes": {"q": "quasi", **dict.fromkeys(SENSITIVE, "sensitive")},
        "privacy": [
            {"multi-sensitive": {"k": 2, "l": 1, "sensitive": SENSITIVE}},
        ],
        "publish": data.draw(st.sampled_from(["anatomy", "lossy-join"])),
    }
    release = incrowd.anonymize(frame, asked)
    records = next(iter(release.tables.values()))
    key = records.columns[-1]
    group_of = dict(records.select("q", key).rows())
    grouped = frame.with_columns(pl.col("q").replace_strict(group_of).alias("g"))
    models = (MultiSensitive(k=2, l=1, sensitive=SENSITIVE),)
    expected = [dict(m.check(grouped, quasi=["g"]).numbers) for m in models]
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        release.save(Path(folder) / "r")
        verdict = incrowd.verify(Path(folder) / "r", original=frame)
    assert verdict.holds
    told = [{n: v for n, v in each.items() if n != "groups_failing"} for each in verdict.measured]
    assert told == expected


@pytest.mark.parametrize("change", ["cell", "row", "swap", "quasi"])
def test_another_table_is_not_the_original(change: str, tmp_path: Path) -> None:
    frame = patients()
    incrowd.anonymize(frame, policy()).save(tmp_path / "r")
    drugs = frame["drug"].to_list()
    if change == "cell":
        other = frame.with_columns(pl.Series("drug", ["z", *drugs[1:]]))
    elif change == "row":
        other = frame.head(199)
    elif change == "quasi":
        other = frame.with_columns(pl.lit("F").alias("sex"))
    else:
        other = frame.with_columns(pl.Series("drug", [drugs[-1], *drugs[:-1]]))
    verdict = incrowd.verify(tmp_path / "r", original=other)
    assert broken(verdict) == [ORIGINAL]
    assert finding(verdict, "multi-sensitive").holds is None


def test_an_original_without_a_column_is_refused(tmp_path: Path) -> None:
    incrowd.anonymize(patients(), policy()).save(tmp_path / "r")
    with pytest.raises(IncrowdError, match="drug"):
        incrowd.verify(tmp_path / "r", original=patients().drop("drug"))


def test_what_the_files_refute_needs_no_original(tmp_path: Path) -> None:
    release = incrowd.anonymize(patients(), policy(privacy=[{"k-anonymity": {"k": 6}}]))
    parameters = {"k": 6, "l": 6, "sensitive": SENSITIVE, "limits": {}, "check": "exact"}
    release.manifest["promises"] = [{"model": "multi-sensitive", "parameters": parameters}]
    with pytest.raises(VerificationError, match="fail"):
        release.save(tmp_path / "r")
    # Five values of an illness can empty a group, unless only four of them may be deleted.
    release.manifest["promises"][0]["parameters"]["limits"] = {"illness": 0, "drug": 0}
    with pytest.raises(VerificationError, match="only with the original"):
        release.save(tmp_path / "r")


def test_a_joint_promise_that_the_original_refutes_is_not_published(tmp_path: Path) -> None:
    # Every illness has its own drug: apart they are 4-diverse, together as well, but not 5.
    frame = pl.DataFrame(
        {"q": ["a"] * 4 + ["b"] * 4, "illness": list("1234") * 2, "drug": list("wwxx") * 2}
    )
    asked = {
        "attributes": {"q": "quasi", **dict.fromkeys(SENSITIVE, "sensitive")},
        "privacy": [{"multi-sensitive": {"k": 4, "l": 2, "sensitive": SENSITIVE}}],
        "publish": "anatomy",
    }
    release = incrowd.anonymize(frame, asked)
    release.manifest["promises"][0]["parameters"]["l"] = 3
    with pytest.raises(VerificationError, match="2 groups fail"):
        release.save(tmp_path / "r")
    release.manifest["promises"][0]["parameters"]["l"] = 2
    assert release.save(tmp_path / "r").holds


def test_equal_records_in_several_groups_leave_the_promise_open(tmp_path: Path) -> None:
    frame = pl.DataFrame({"q": ["a"] * 4, "illness": list("1234"), "drug": list("wxyz")})
    asked = {
        "attributes": {"q": "quasi", **dict.fromkeys(SENSITIVE, "sensitive")},
        "privacy": [{"l-diversity": {"l": 2, "sensitive": "illness"}}],
        "method": "anatomize",
        "publish": "anatomy",
    }
    release = incrowd.anonymize(frame, asked)
    release.save(tmp_path / "r")
    verdict = incrowd.verify(tmp_path / "r", original=frame)
    assert verdict.holds
    assert finding(verdict, ORIGINAL).holds is None


def test_equal_quasi_identifiers_in_several_groups_need_an_original_that_names_them(
    tmp_path: Path,
) -> None:
    frame = patients(120).select("sex", *SENSITIVE).with_columns(number=pl.int_range(120))
    asked = {
        "attributes": {"sex": "quasi", **dict.fromkeys(SENSITIVE, "sensitive"), "number": "keep"},
        "privacy": [{"multi-sensitive": {"k": 4, "l": 2, "sensitive": SENSITIVE}}],
        "method": "anatomize",
        "publish": "anatomy",
    }
    release = incrowd.anonymize(frame, asked, accept_unprotected=True)
    assert release.save(tmp_path / "r").open == ()
    groups = release.data.select(pl.col("number").cast(pl.Int64), "group_id")
    named = frame.join(groups, on="number")
    assert incrowd.verify(tmp_path / "r", original=named).open == ()
    assert "stand in several groups" in str(
        incrowd.verify(tmp_path / "r", original=frame).open[0].detail
    )
    wrong = named.with_columns(pl.col("group_id").reverse())
    assert broken(incrowd.verify(tmp_path / "r", original=wrong)) == [ORIGINAL]
