"""Policy: the one validated description of a job, and whether it fits itself and the data."""

from incrowd.hierarchies.description import AttributePolicy, HierarchyPolicy
from incrowd.policy._json_schema import json_schema
from incrowd.policy._schema import HospitalsPolicy, Policy, Publish, as_policy

__all__ = [
    "AttributePolicy",
    "HierarchyPolicy",
    "HospitalsPolicy",
    "Policy",
    "Publish",
    "as_policy",
    "json_schema",
]
