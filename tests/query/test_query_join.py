"""The join of a release's tables: the tables of the papers, and what its chances mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from asked_patients import by_hand, quasi, released, sensitive

from incrowd._runtime.progress import silent
from incrowd.errors import InputError, ParameterError
from incrowd.methods.base import Outcome
from incrowd.pipeline import Job
from incrowd.query import _joining as joining
from incrowd.query import join, query

TABLE_VII = pl.DataFrame(
    {
        "Job": ["clerk", "manager", "clerk", "factory worker", "factory worker",
                "technical supporter"],
        "Birth": [1975, 1955, 1955, 1955, 1975, 1940],
        "Illness": ["HIV", "flu", "flu", "fever", "flu", "fever"],
    }
)  # fmt: skip


def test_table_x_of_the_survey() -> None:
    policy = {
        "attributes": {"Job": "quasi", "Birth": "quasi", "Illness": "sensitive"},
        "privacy": [{"alpha-k": {"alpha": 0.5, "k": 2, "sensitive": "Illness"}}],
        "publish": "lossy-join",
    }
    job = Job.begin(TABLE_VII, policy, silent)
    classes = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
    joined = join(job.release(Outcome(classes, {}, np.array([2, 2, 2]), 0)))
    assert joined.columns == ["Job", "Birth", "Illness", "class_id", "probability"]
    wanted = {
        (mine["Job"], str(mine["Birth"]), other["Illness"], str(c // 2 + 1), 0.5)
        for c, mine in enumerate(TABLE_VII.to_dicts())
        for d, other in enumerate(TABLE_VII.to_dicts())
        if c // 2 == d // 2
    }
    assert joined.height == 12
    assert set(joined.rows()) == wanted


def anatomized(**changed: Any) -> Any:
    tables: dict[str, dict[str, list[Any]]] = {
        "qit": {"age": ["41", "42", "42"], "group_id": ["1", "1", "1"]},
        "st_ill": {"group_id": ["1", "1"], "ill": ["flu", None], "count": ["2", "1"]},
        "st_cure": {"group_id": ["1", "1"], "cure": ["IV", "rest"], "count": ["1", "2"]},
    }
    entries = [sensitive("cure"), quasi("age", "numeric", "exact", decimals=0), sensitive("ill")]
    return by_hand({**tables, **changed}, entries, "anatomy")


def test_anatomy_joins_every_combination_with_its_chance() -> None:
    joined = join(anatomized())
    assert joined.columns == ["cure", "age", "ill", "group_id", "probability"]
    first = joined.head(4).rows()
    assert [row[:4] for row in first] == [
        ("IV", "41", "flu", "1"),
        ("IV", "41", None, "1"),
        ("rest", "41", "flu", "1"),
        ("rest", "41", None, "1"),
    ]
    assert [row[4] for row in first] == pytest.approx([2 / 9, 1 / 9, 4 / 9, 2 / 9])
    assert joined.height == 12
    some = join(anatomized(), attributes=["ill"])
    assert some.columns == ["age", "ill", "group_id", "probability"]
    assert some["probability"].to_list() == pytest.approx([2 / 3, 1 / 3] * 3)
    assert join(anatomized(), attributes=[]).columns == ["age", "group_id", "probability"]


@pytest.mark.parametrize("kind", ["anatomy", "lossy-join"])
def test_chances_of_rows_that_match_add_up_to_the_estimate(kind: str) -> None:
    release, _ = released(kind)
    joined = join(release)
    assert joined["probability"].sum() == pytest.approx(60)
    match = (pl.col("ill") == "it's") & (pl.col("job") == "judge") & (pl.col("grade") == "2.5")
    found = query(release, "ill = 'it''s' and job = judge and grade = 2.5")
    assert joined.filter(match)["probability"].sum() == pytest.approx(found.count)


def test_a_generalized_release_is_its_table(tmp_path: Path) -> None:
    release, _ = released("sets")
    assert join(release).equals(release.data)
    release.save(tmp_path / "release")
    assert join(tmp_path / "release").equals(release.data)
    assert "grade" not in join(release, attributes=["ill"]).columns


def test_a_column_called_probability_keeps_its_name() -> None:
    tables = {
        "nss": {"probability": ["low"], "class_id": ["1"]},
        "ss": {"class_id": ["1"], "probability_2": ["high"]},
    }
    entries = [quasi("probability", labels="exact"), sensitive("probability_2")]
    joined = join(by_hand(tables, entries, "lossy-join"))
    assert joined.rows(named=True) == [
        {"probability": "low", "probability_2": "high", "class_id": "1", "probability_3": 1.0}
    ]


@pytest.mark.parametrize("kind", ["anatomy", "lossy-join"])
def test_a_join_that_is_too_large_is_refused_before_the_work(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, _ = released(kind)
    rows = join(release).height
    monkeypatch.setattr(joining, "MOST_ROWS", rows)
    assert join(release).height == rows
    monkeypatch.setattr(joining, "MOST_ROWS", rows - 1)
    with pytest.raises(InputError, match=rf"would have {rows:,} rows.*attributes=\[…\]"):
        join(release)


def test_attributes_are_checked() -> None:
    for wrong in ("ill", ["ill", "ill"]):
        with pytest.raises(ParameterError, match="a list of sensitive attributes"):
            join(anatomized(), attributes=wrong)
    with pytest.raises(ParameterError, match=r"'ills' is no sensitive attribute.*'ill'"):
        join(anatomized(), attributes=["ills"])
    with pytest.raises(ParameterError, match="'age' is no sensitive attribute"):
        join(anatomized(), attributes=["age"])
