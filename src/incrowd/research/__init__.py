"""Research value: what a researcher wants of each attribute, and how much of it labels keep."""

from incrowd.research.rules import Interest, Rule
from incrowd.research.value import attribute_value, level_value, level_values

__all__ = [
    "Interest",
    "Rule",
    "attribute_value",
    "level_value",
    "level_values",
]
