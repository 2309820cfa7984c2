"""Sizes of memory as people write them: 4GB, 512 MB."""

import re

_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_MOST = 10**15
"""No machine has so many bytes; engines refuse more."""


def bytes_of(text: str) -> int:
    """The number of bytes that a text such as 4GB or 512 MB says.

    Example
    -------
    >>> bytes_of("2GB")
    2000000000
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]i?B)\s*", text, re.IGNORECASE)
    if match is None:
        raise ValueError("memory is a number with a unit, as in 4GB or 512MB")
    size = float(match[1]) * _UNITS[match[2].upper()]
    if not 1 <= size <= _MOST:
        raise ValueError("memory is more than 0 and at most 1000TB, as in 4GB or 512MB")
    return int(size)
