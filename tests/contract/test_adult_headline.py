"""Adult, 30,162 train records, nine quasi-identifiers, k=5, nothing suppressed: the headline."""

from pathlib import Path

import polars as pl

import incrowd
from incrowd import datasets

QUASI = [
    "age", "education", "marital-status", "native-country", "occupation", "race", "income", "sex",
    "workclass",
]  # fmt: skip


def test_set_labels_keep_96_5_percent_of_the_information(tmp_path: Path) -> None:
    frame = datasets.load("adult").filter(pl.col("fold") == "train").drop_nulls().select(QUASI)
    assert frame.height == 30_162
    release = incrowd.anonymize(
        frame,
        {
            "attributes": dict.fromkeys(QUASI, "quasi"),
            "privacy": [{"k-anonymity": {"k": 5}}],
            "method": {"name": "mondrian", "split": "loss", "labels": "set"},
        },
        accept_unprotected=True,
    )
    verdict = release.save(tmp_path / "release")
    assert verdict.holds
    smallest = verdict.groups["smallest"]
    assert smallest is not None
    assert smallest >= 5
    assert release.manifest["records"] == {
        "source": 30_162, "published": 30_162, "suppressed": 0, "missing_dropped": 0
    }  # fmt: skip
    assert incrowd.evaluate(tmp_path / "release").ncp.total <= 0.035
