"""NCP, the normalized certainty penalty: how much of its domain a cell may stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from incrowd._runtime.plain_fields import PlainFields
from incrowd.labels import cell_losses
from incrowd.published.opened import ReleaseLike
from incrowd.utility.published import Published, open_published


@dataclass(frozen=True)
class NCP(PlainFields):
    """The loss from 0 (every cell is a value) to 1 (every cell may be anything)."""

    total: float
    per_attribute: Mapping[str, float]


def ncp(release: ReleaseLike | str | Path | Published) -> NCP:
    """The information loss of a release, for the whole table and per quasi-identifier.

    Notes
    -----
    A cell that stands for w of the d values of its domain loses (w - 1) / (d - 1), a cell of a
    suppressed record 1; records dropped for missing cells are not counted. An attribute's loss is
    the mean over its cells, the table's the mean over attributes. Cost: one pass to count the
    different cells of each column; only those are read.

    References
    ----------
    Xu et al. (2006), Utility-based anonymization using local recoding. Differs from the paper:
    the value itself is subtracted, so an untouched table has loss 0.

    Example
    -------
    >>> import polars
    >>> from types import SimpleNamespace
    >>> release = SimpleNamespace(
    ...     data=polars.DataFrame({"age": ["[30-36)", "[30-36)", "47"]}),
    ...     manifest={
    ...         "records": {"source": 4, "published": 3, "suppressed": 1, "missing_dropped": 0},
    ...         "attributes": [
    ...             {"name": "age", "role": "quasi", "published": True, "type": "numeric",
    ...              "labels": "set", "domain": 11, "decimals": 0}
    ...         ],
    ...     },
    ... )
    >>> ncp(release).total
    0.5
    """
    published = open_published(release)
    suppressed = published.records["suppressed"]
    records = published.frame.height + suppressed
    per_attribute = {}
    for name in published.quasi:
        cells = published.cells(name)
        losses = cell_losses(list(cells), published.entries[name])
        counts = np.array(list(cells.values()), dtype=np.int64)
        per_attribute[name] = (float((losses * counts).sum()) + suppressed) / records
    return NCP(sum(per_attribute.values()) / len(per_attribute), per_attribute)
