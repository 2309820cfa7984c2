"""Discernibility and group sizes: how many other records each record cannot be told from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from incrowd._runtime.plain_fields import PlainFields
from incrowd.published.opened import ReleaseLike
from incrowd.utility.published import Published, open_published


@dataclass(frozen=True)
class Discernibility(PlainFields):
    """The discernibility of a release and the sizes of its groups."""

    dm: int
    """Sum of squared group sizes, plus the source's records for every suppressed one."""
    dr: float
    """dm as a share of its largest value, source squared."""
    groups: int
    average: float
    """Published records per group."""
    seen_by_record: float
    """The size of a record's group, averaged over records."""
    k: int | None
    """The largest k promised."""
    cavg: float | None
    """The average group size in units of k; 1 is the best possible."""


def discernibility(release: ReleaseLike | str | Path | Published) -> Discernibility:
    """The discernibility metric of a release, its ratio, average group size and CAVG.

    Notes
    -----
    DM charges each published record the size of its group and each suppressed record the number
    of records of the source. Cost: one sort of the published rows.

    References
    ----------
    Bayardo and Agrawal (2005), Data privacy through optimal k-anonymization (DM); LeFevre et al.
    (2006), Mondrian multidimensional k-anonymity (CAVG).

    Example
    -------
    >>> import polars
    >>> from types import SimpleNamespace
    >>> release = SimpleNamespace(
    ...     data=polars.DataFrame({"sex": ["F", "F", "M", "M", "M"]}),
    ...     manifest={
    ...         "records": {"source": 6, "published": 5, "suppressed": 1, "missing_dropped": 0},
    ...         "attributes": [{"name": "sex", "role": "quasi", "published": True}],
    ...         "promises": [{"model": "k-anonymity", "parameters": {"k": 2}}],
    ...     },
    ... )
    >>> found = discernibility(release)
    >>> found.dm, found.average, found.cavg
    (19, 2.5, 1.25)
    """
    published = open_published(release)
    sizes = published.group_sizes()
    squares, records = int((sizes * sizes).sum()), int(np.sum(sizes))
    source = published.records["source"]
    dm = squares + published.records["suppressed"] * source
    average, k = records / len(sizes), published.promised_k
    return Discernibility(
        dm=dm,
        dr=dm / source**2,
        groups=len(sizes),
        average=average,
        seen_by_record=squares / records,
        k=k,
        cavg=None if k is None else average / k,
    )
