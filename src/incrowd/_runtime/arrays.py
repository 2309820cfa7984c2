"""The arrays that all rooms compute with, by name, and how exact they are."""

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

MAX_EXACT = 2**53
"""Whole numbers beyond this are not exact as floats, nor are numbers counted in their smallest
decimal."""
