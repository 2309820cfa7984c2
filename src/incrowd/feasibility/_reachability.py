"""Whether a k can be reached: asked of numbers of values, of distributions, or of a file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from incrowd._runtime.arrays import FloatArray
from incrowd.errors import ParameterError
from incrowd.feasibility._advice import advise, records_needed
from incrowd.feasibility._cells import of_weights, product
from incrowd.feasibility._closed_form import chance_of, expected_below
from incrowd.feasibility._simulation import simulate
from incrowd.feasibility.result import Attribute, Feasibility, InFile
from incrowd.sources import SourceLike

TARGET = 0.95
MOST_VALUES = 1_000_000


def feasibility(
    domains: Sequence[int] | None = None,
    records: int = 0,
    k: int = 0,
    *,
    distributions: Sequence[Sequence[float]] | None = None,
    names: Sequence[str] | None = None,
    simulations: int | None = None,
    seed: int = 0,
    target: float = TARGET,
) -> Feasibility:
    """The chance that so many records with such attributes are k-anonymous, and what to do.

    Parameters
    ----------
    domains
        How many values each attribute has, all equally likely.
    records, k
        How many records there are, and how many must look alike.
    distributions
        In place of the domains: for each attribute, how likely its values are; any positive
        weights will do.
    names
        Of the attributes; `attribute 1` and so on when left out.
    simulations
        How many tables are drawn; as many as take about two seconds when left out, and at least
        40. With 0 none is.
    seed
        Of the simulation.
    target
        The chance that `records_needed` is about.

    Notes
    -----
    A table is k-anonymous when each combination of values that occurs does so k times;
    combinations that do not occur do no harm. Attributes are taken as independent. Attributes that
    hang together have fewer combinations that occur, and better chances.
    See `chance_of`, `simulate` and `advise` for what each costs;
    together a few seconds.

    References
    ----------
    Morton (2012), Determining the proper k-value, Table 12 (by simulation, for two equally likely
    values per attribute).

    Example
    -------
    >>> found = feasibility([2, 2, 2], 50, 3, simulations=0)
    >>> round(found.probability, 3), found.records_needed
    (0.702, 69)
    """
    if (domains is None) == (distributions is None):
        raise ParameterError(
            "Give either domains, the number of values of each attribute, or distributions."
        )
    weights = _even(domains) if domains is not None else _given(distributions or ())
    numbered = [f"attribute {number}" for number in range(1, len(weights) + 1)]
    labels = numbered if names is None else list(names)
    if len(labels) != len(weights):
        raise ParameterError(
            f"names: there are {len(weights)} attributes, but {len(labels)} names. "
            "Give one name for each."
        )
    return _asked(labels, weights, records, k, simulations, seed, target)


def feasibility_of(
    source: SourceLike,
    quasi: Sequence[str],
    k: int,
    records: int | None = None,
    *,
    simulations: int | None = None,
    seed: int = 0,
    target: float = TARGET,
) -> Feasibility:
    """The chance that records like those of a file are k-anonymous, and whether the file is.

    Parameters
    ----------
    source
        A path, a frame of pandas, polars or Arrow.
    quasi
        The columns that an attacker may know.
    k
        How many records must look alike.
    records
        How many records to ask about; as many as the file has when left out.
    simulations, seed, target
        As in `feasibility`.

    Notes
    -----
    Each column has the distribution that it has in the file, but the columns are taken as
    independent. What holds of the file itself, with its columns as they hang together, is in
    `in_file`. A missing cell is a value of its own. Cost: one sort of the records, and that of
    `feasibility`.

    Example
    -------
    >>> import polars
    >>> frame = polars.DataFrame({"sex": ["F", "M"] * 40, "smoker": ["no", "no", "no", "yes"] * 20})
    >>> found = feasibility_of(frame, ["sex", "smoker"], 3, simulations=0)
    >>> found.in_file.k_anonymous, round(found.probability, 3)
    (True, 0.997)
    """
    from incrowd.attacks.targets import code_as_seen, columns_of
    from incrowd.table.packing import distinct_rows_of

    target_table, names, _ = columns_of(source, quasi, None)
    _check_whole("k", k, 2)
    height = target_table.frame.height
    if height == 0:
        raise ParameterError(f"{target_table.name} has no record. Give a file that has some.")
    columns = [code_as_seen(target_table.frame[name]) for name in names]
    group, _ = distinct_rows_of(columns, height)
    sizes = np.bincount(group)
    small = sizes[sizes < k]
    in_file = InFile(
        source=target_table.name,
        records=height,
        k_anonymous=not len(small),
        smallest_group=int(sizes.min()),
        groups=len(sizes),
        groups_below_k=len(small),
        records_below_k=int(small.sum()),
    )
    weights = [np.bincount(column.codes).astype(np.float64) for column in columns]
    weights = [each[each > 0] for each in weights]
    number = height if records is None else records
    return _asked(list(names), weights, number, k, simulations, seed, target, in_file)


def _asked(
    names: list[str],
    weights: list[FloatArray],
    records: int,
    k: int,
    simulations: int | None,
    seed: int,
    target: float,
    in_file: InFile | None = None,
) -> Feasibility:
    _check_whole("k", k, 2)
    _check_whole("records", records, 1)
    _check_whole("seed", seed, 0)
    if simulations is not None:
        _check_whole("simulations", simulations, 0)
    if not (isinstance(target, int | float) and 0 < target < 1):
        raise ParameterError(f"target: must be a number between 0 and 1, got {target!r}.")
    cells = product([of_weights(each) for each in weights])
    chance = chance_of(cells, records, k)
    drawn = (
        None if simulations == 0 else simulate(weights, records, k, times=simulations, seed=seed)
    )
    return Feasibility(
        attributes=tuple(
            Attribute(name, len(each)) for name, each in zip(names, weights, strict=True)
        ),
        combinations=float(math.prod(float(len(each)) for each in weights)),
        records=records,
        k=k,
        probability=chance.value,
        exact=chance.exact,
        below_k=expected_below(cells, records, k),
        simulated=None if drawn is None else drawn.share,
        standard_error=None if drawn is None else drawn.standard_error,
        simulations=0 if drawn is None else drawn.times,
        target=float(target),
        records_needed=records_needed(cells, records, k, target),
        advice=tuple(advise(names, weights, records, k)),
        in_file=in_file,
    )


def _even(domains: Any) -> list[FloatArray]:
    if isinstance(domains, str | bytes | int) or not len(domains):
        raise ParameterError(
            "domains: must list how many values each attribute has, as in [2, 2, 2]."
        )
    for domain in domains:
        _check_whole("domains", domain, 1)
        if domain > MOST_VALUES:
            raise ParameterError(
                f"domains: an attribute has at most {MOST_VALUES:,} values here, got {domain:,}."
            )
    return [np.ones(domain) for domain in domains]


def _given(distributions: Sequence[Sequence[float]]) -> list[FloatArray]:
    if not len(distributions):
        raise ParameterError("distributions: must hold at least one attribute.")
    found = []
    for number, each in enumerate(distributions, start=1):
        try:
            weights = np.asarray(each, dtype=np.float64)
        except (TypeError, ValueError):
            weights = np.empty(0)
        if weights.ndim != 1 or not len(weights) or not np.all(np.isfinite(weights)):
            raise ParameterError(f"distributions: attribute {number} must be a list of numbers.")
        if np.any(weights < 0) or not np.any(weights > 0):
            raise ParameterError(
                f"distributions: attribute {number} must have weights of at least 0, one above."
            )
        found.append(weights[weights > 0])
    return found


def _check_whole(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ParameterError(f"{name}: must be a whole number of at least {least}, got {value!r}.")
