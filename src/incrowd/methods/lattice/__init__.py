"""The parts of searches over levels of generalization: frequency sets, metrics, labels."""

from typing import Literal

LatticeMetric = Literal["loss", "precision", "discernibility"]
"""What a table with one level per attribute costs."""
