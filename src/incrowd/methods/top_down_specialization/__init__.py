"""Top-down specialization: from one label per attribute to as many as privacy allows."""

from incrowd.methods.top_down_specialization._top_down_specialization import (
    CandidateValue,
    Step,
    TopDownSpecialization,
    best_search,
    top_down_specialization,
)

__all__ = [
    "CandidateValue",
    "Step",
    "TopDownSpecialization",
    "best_search",
    "top_down_specialization",
]
