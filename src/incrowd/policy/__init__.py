"""Policy: the one validated description of a job, and whether it fits itself and the data."""

from incrowd.policy._schema import (
    AttributePolicy,
    HierarchyPolicy,
    HospitalsPolicy,
    Intervals,
    Policy,
    json_schema,
)

__all__ = [
    "AttributePolicy",
    "HierarchyPolicy",
    "HospitalsPolicy",
    "Intervals",
    "Policy",
    "json_schema",
]
