"""Table 8 of Sun, Li, Wang (2010): un-specialization and repair of the parent."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import incrowd

ZIPS = ["4351", "4351", "4351", "4352"]
DISEASES = ["HIV", "Flu", "HIV", "Flu"]


def policy(model: dict[str, Any]) -> dict[str, Any]:
    return {
        "attributes": {
            "no": "keep",
            "zip": {"role": "quasi", "type": "category", "hierarchy": {"mask": {"length": 4}}},
            "disease": "sensitive",
        },
        "privacy": [model],
        "method": "top-down-local",
    }


@pytest.mark.parametrize(
    "model",
    [
        {
            "l-alpha-diversity": {
                "l": 2,
                "alpha": 1,
                "sensitive": "disease",
                "categories": [["HIV"], ["Flu"]],
            }
        },
        {"l-diversity": {"l": 2, "sensitive": "disease"}},
    ],
    ids=["(2,1)-diverse", "2-diverse"],
)
def test_table_8_keeps_the_first_two_and_generalizes_the_others(model: dict[str, Any]) -> None:
    frame = pl.DataFrame({"no": [1, 2, 3, 4], "zip": ZIPS, "disease": DISEASES})
    release = incrowd.anonymize(frame, policy(model), accept_unprotected=True)
    published = dict(release.data.select("no", "zip").rows())
    assert published == {"1": "4351", "2": "4351", "3": "435*", "4": "435*"}
