"""Tables VII to X of the survey: (0.5, 2)-anonymous classes, published as NSS and SS."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

import incrowd
from incrowd._runtime.progress import silent
from incrowd.methods.base import Outcome
from incrowd.pipeline import Job
from incrowd.privacy import AlphaK

TABLE_VII = pl.DataFrame(
    {
        "Job": ["clerk", "manager", "clerk", "factory worker", "factory worker",
                "technical supporter"],
        "Birth": [1975, 1955, 1955, 1955, 1975, 1940],
        "Post Code": [4350, 4350, 5432, 5432, 4350, 4350],
        "Illness": ["HIV", "flu", "flu", "fever", "flu", "fever"],
    }
)  # fmt: skip
CLASSES = [1, 1, 2, 2, 3, 3]
POLICY = {
    "attributes": {
        "Job": "quasi",
        "Birth": {"role": "quasi", "type": "numeric"},
        "Post Code": {"role": "quasi", "type": "category"},
        "Illness": "sensitive",
    },
    "privacy": [{"alpha-k": {"alpha": 0.5, "k": 2, "sensitive": "Illness"}}],
    "publish": "lossy-join",
}
TABLE_X = {
    (job, birth, code, illness, number)
    for number, people, illnesses in (
        ("1", [("clerk", "1975", "4350"), ("manager", "1955", "4350")], ["HIV", "flu"]),
        ("2", [("clerk", "1955", "5432"), ("factory worker", "1955", "5432")], ["flu", "fever"]),
        (
            "3",
            [("factory worker", "1975", "4350"), ("technical supporter", "1940", "4350")],
            ["flu", "fever"],
        ),
    )
    for job, birth, code in people
    for illness in illnesses
}


def test_table_viii_is_alpha_k_anonymous() -> None:
    temp = TABLE_VII.with_columns(pl.Series("ClassID", CLASSES))
    model = AlphaK(alpha=0.5, k=2, sensitive="Illness")
    found = model.check(temp, quasi=["ClassID"])
    assert found.holds
    assert found.numbers == {"alpha": 0.5, "k": 2}


def test_tables_ix_and_their_join_table_x(tmp_path: Path) -> None:
    """The classes of Table VIII, published."""
    job = Job.begin(TABLE_VII, POLICY, silent)
    classes = np.array(CLASSES, dtype=np.int32) - 1
    release = job.release(Outcome(classes, {}, np.array([2, 2, 2]), 0))
    assert list(release.tables) == ["nss", "ss"]
    nss, ss = release.tables["nss"], release.tables["ss"]
    raw = {
        tuple(map(str, row))
        for row in TABLE_VII.drop("Illness").with_columns(pl.Series("class_id", CLASSES)).rows()
    }
    assert set(nss.rows()) == raw
    held = [(str(number), ill) for number, ill in zip(CLASSES, TABLE_VII["Illness"], strict=True)]
    assert ss.rows() == sorted(held)
    joined = nss.join(ss, on="class_id").select("Job", "Birth", "Post Code", "Illness", "class_id")
    assert joined.height == 12
    assert set(joined.rows()) == TABLE_X
    verdict = release.save(tmp_path / "release")
    assert verdict.holds
    assert dict(verdict.measured[0]) == {"alpha": 0.5, "k": 2, "groups_failing": 0}


def test_mondrian_finds_classes_that_keep_the_promise(tmp_path: Path) -> None:
    release = incrowd.anonymize(TABLE_VII, POLICY)
    assert release.save(tmp_path / "release").holds
    assert release.tables["nss"].height == release.tables["ss"].height == 6
