"""The arrays that all rooms compute with, by name, and how exact they are."""

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
Ints = npt.NDArray[np.integer]
"""Whole numbers of any width: as narrow as a column allows."""
Uints = npt.NDArray[np.uint64]
"""Whole numbers of 64 bits, each a bit for something or the key of a hash table."""

MAX_EXACT = 2**53
"""Whole numbers beyond this are not exact as floats, nor are numbers counted in their smallest
decimal."""
