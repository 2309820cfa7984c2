"""Methods: each finds a grouping of the records from counts alone."""

from incrowd.methods.options import (
    METHOD_OPTIONS,
    AnatomizeOptions,
    MethodOptions,
    MondrianOptions,
    TopDownSpecializationOptions,
)
from incrowd.methods.registry import run

__all__ = [
    "METHOD_OPTIONS",
    "AnatomizeOptions",
    "MethodOptions",
    "MondrianOptions",
    "TopDownSpecializationOptions",
    "run",
]
