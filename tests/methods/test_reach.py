"""What no grouping reaches, and what no method can search for, is refused before any work."""

from __future__ import annotations

from typing import Any, ClassVar

import polars as pl
import pytest

import incrowd
from incrowd._runtime.progress import silent
from incrowd.errors import ParameterError, PrivacyError
from incrowd.methods.registry import run
from incrowd.pipeline import Job
from incrowd.privacy import KAnonymity

METHODS = [
    "mondrian", "top-down-specialization", "top-down-local", "incognito", "research-value",
    "clustering",
]  # fmt: skip


class _Fickle(KAnonymity):
    name: ClassVar[str] = "fickle"
    monotone: ClassVar[bool] = False


def policy(method: str, k: int = 2) -> dict[str, Any]:
    return {
        "attributes": {"age": "quasi", "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": k}}, {"l-diversity": {"l": 3, "sensitive": "ill"}}],
        "method": method,
    }


FRAME = pl.DataFrame({"age": [1, 2, 3, 4], "ill": ["a", "b", "a", "b"]})


@pytest.mark.parametrize("method", METHODS)
def test_what_the_whole_table_misses_is_told_with_the_best_that_it_reaches(method: str) -> None:
    with pytest.raises(PrivacyError, match=r"l-diversity \(l = 2\)"):
        incrowd.anonymize(FRAME, policy(method))


@pytest.mark.parametrize("method", METHODS)
def test_a_model_that_is_not_monotone_is_refused_with_the_reason(method: str) -> None:
    asked = policy(method)
    asked["privacy"] = [{"k-anonymity": {"k": 2}}]
    job = Job.begin(FRAME, asked, silent)
    object.__setattr__(job.task, "models", (_Fickle(k=2),))
    with pytest.raises(ParameterError, match="joining two groups"):
        run(job.task, job.policy.method)
