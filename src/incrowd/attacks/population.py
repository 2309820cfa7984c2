"""How large the groups of a sample are in the population it was drawn from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from incrowd._runtime.arrays import FloatArray, IntArray
from incrowd.errors import InputError
from incrowd.sources import SourceLike
from incrowd.table import Column
from incrowd.table.coding import number_text

_BY_RECURRENCE = 32
_MOST_TERMS = 200


def population_sizes(
    columns: Sequence[Column],
    groups: Sequence[npt.NDArray[np.integer]],
    sizes: IntArray,
    population: SourceLike,
    sample_name: str,
) -> tuple[IntArray, int]:
    """How many people of the population share each group of the sample, and how many there are.

    `groups[i]` holds the code of each group in `columns[i]`. A group of the sample must be in the
    population at least as often: otherwise the one was not drawn from the other.
    """
    from incrowd.attacks.targets import code_as_seen
    from incrowd.sources import describe, read
    from incrowd.table.packing import distinct_rows

    frame = read(population, columns=[column.name for column in columns])
    joined, cardinalities = [], []
    for column, codes in zip(columns, groups, strict=True):
        other = code_as_seen(frame[column.name])
        ours, theirs, cardinality = _common_codes(column, other)
        joined.append(np.concatenate((ours[codes], theirs[other.codes])))
        cardinalities.append(cardinality)
    number, _ = distinct_rows(joined, cardinalities, len(sizes) + frame.height)
    found = np.bincount(number[len(sizes) :], minlength=int(number.max()) + 1)
    in_population = found[number[: len(sizes)]].astype(np.int64)
    absent = int(np.count_nonzero(in_population == 0))
    larger = int(np.count_nonzero(in_population < sizes)) - absent
    if absent or larger:
        raise InputError(
            f"{describe(population)} is not the population of {sample_name}: of its "
            f"{len(sizes):,} groups, {absent:,} do not occur there and {larger:,} have fewer "
            "records there. Give a population that holds every record of the sample, with the "
            "quasi-identifiers written in the same way."
        )
    return in_population, frame.height


def expected_risk(sizes: IntArray, sampling_fraction: float) -> FloatArray:
    """For each group size in the sample, the expected 1 / (its size in the population).

    Notes
    -----
    Given f records of a group in a sample that took each person with probability p, the size F of
    the group in the population is taken as negative binomial, P(F = h) = C(h-1, f-1) p^f q^(h-f)
    for h >= f, with q = 1 - p. With G the probability generating function of F,
    E[1/F] = integral of G(t)/t over 0..1, which the substitution v = pt / (1 - qt) turns into
    r(f) = p * integral of v^(f-1) / (p + qv) over 0..1. Hence r(1) = -p log(p) / q,
    q r(f+1) + p r(f) = p / f, and, expanding 1 / (p + qv) = 1 / (1 - q(1-v)),
    r(f) = p * sum over n of q^n B(f, n+1), all terms positive. The recurrence loses no digits
    for p below one half, the series converges fast for p above it and for large f.

    References
    ----------
    Benedetti and Franconi (1998), Statistical and technological solutions for controlled data
    dissemination; Franconi and Polettini (2004), Individual risk estimation in mu-Argus: a
    review (closed forms for f = 1, 2 and above).

    Example
    -------
    >>> expected_risk(np.array([1, 2]), 0.5).round(4).tolist()
    [0.6931, 0.3069]
    """
    distinct, inverse = np.unique(sizes, return_inverse=True)
    risks = _by_series(distinct.astype(np.float64), sampling_fraction)
    if sampling_fraction < 0.5:
        small = distinct[distinct <= _BY_RECURRENCE]
        table = _by_recurrence(sampling_fraction)
        risks[: len(small)] = table[small]
    return risks[inverse]


def _by_series(sizes: FloatArray, p: float) -> FloatArray:
    term = p / sizes
    total = np.zeros_like(term)
    for n in range(_MOST_TERMS):
        total += term
        term = term * ((1 - p) * (n + 1) / (sizes + n + 1))
        if not bool((term > total * 1e-17).any()):
            break
    return total


def _by_recurrence(p: float) -> FloatArray:
    q = 1 - p
    risks = np.zeros(_BY_RECURRENCE + 1)
    risks[1] = -p * np.log(p) / q
    for size in range(1, _BY_RECURRENCE):
        risks[size + 1] = p / q * (1 / size - risks[size])
    return risks


def _common_codes(first: Column, second: Column) -> tuple[IntArray, IntArray, int]:
    """For the codes of two columns, codes of one dictionary of both, and its cardinality."""
    as_numbers = "numeric" in (first.kind, second.kind)
    dictionary: dict[str, int] = {}
    lookups = []
    for column in (first, second):
        texts = [number_text(text) if as_numbers else text for text in column.values]
        lookups.append([dictionary.setdefault(text, len(dictionary)) for text in texts])
    missing = len(dictionary)
    ours, theirs = (np.array([*lookup, missing], dtype=np.int64) for lookup in lookups)
    return ours, theirs, missing + 1
