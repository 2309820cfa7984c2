"""The nodes of a lattice that are still open, with a bound on what each of them costs.

One entry per node in arrays with one axis per attribute. All nodes below or above one are a block
of the array, so that what is found at one node is told to them in one step.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd._runtime.arrays import FloatArray
from incrowd.methods.lattice.rollup import Levels


class OpenNodes:
    """Every node with the least it may cost; a closed one costs more than anything (infinity).

    Parameters
    ----------
    price
        What each node costs at least with nothing suppressed.
    """

    def __init__(self, price: FloatArray) -> None:
        self._price = price.copy()
        self._extra = np.zeros(price.shape)
        self._open = np.ones(price.shape, dtype=np.bool_)
        self._bound = price.copy()
        self._flat = self._bound.reshape(-1)
        self._shape = price.shape
        self._top = np.array(price.shape, dtype=np.int64) - 1
        self._strides = np.array(price.strides, dtype=np.int64) // price.itemsize

    def __len__(self) -> int:
        return self._flat.size

    def first(self) -> tuple[Levels, float]:
        """The open node that may cost least, and that cost; infinity where none is open."""
        place = int(self._flat.argmin())
        return self._levels(place), float(self._flat[place])

    def is_open(self, levels: Levels) -> bool:
        """Whether a node is open."""
        return bool(self._open[levels])

    def chain(self, levels: Levels, most: float) -> list[Levels]:
        """Open nodes from one upwards, each one step above the last, that may cost `most`.

        Of the steps possible the one to the lowest bound is taken.
        """
        now = np.array(levels, dtype=np.int64)
        place = int((now * self._strides).sum())
        chain = [levels]
        while True:
            able = np.flatnonzero(now < self._top)
            if not len(able):
                return chain
            bounds = self._flat[place + self._strides[able]]
            best = int(bounds.argmin())
            if not bounds[best] <= most or np.isinf(bounds[best]):
                return chain
            now[able[best]] += 1
            place += int(self._strides[able[best]])
            chain.append(tuple(now.tolist()))

    def close(self, levels: Levels) -> None:
        """Close one node."""
        self._open[levels] = False
        self._bound[levels] = np.inf

    def close_below(self, levels: Levels) -> None:
        """Close a node and all that are more specific."""
        self._close(_below(levels))

    def close_above(self, levels: Levels) -> None:
        """Close a node and all that are more general."""
        self._close(_above(levels))

    def raise_below(self, levels: Levels, extra: float) -> None:
        """Suppression adds at least this to the cost of a node and of all more specific ones."""
        block = _below(levels)
        np.maximum(self._extra[block], extra, out=self._extra[block])
        self._refresh(block)

    def raise_above(self, levels: Levels, price: float) -> None:
        """A node and all more general ones cost at least this with nothing suppressed."""
        block = _above(levels)
        np.maximum(self._price[block], price, out=self._price[block])
        self._refresh(block)

    def _close(self, block: tuple[slice, ...]) -> None:
        self._open[block] = False
        self._bound[block] = np.inf

    def _refresh(self, block: tuple[slice, ...]) -> None:
        raised = self._price[block] + self._extra[block]
        self._bound[block] = np.where(self._open[block], raised, np.inf)

    def _levels(self, place: int) -> Levels:
        return tuple(int(level) for level in np.unravel_index(place, self._shape))


def _below(levels: Sequence[int]) -> tuple[slice, ...]:
    return tuple(slice(0, level + 1) for level in levels)


def _above(levels: Sequence[int]) -> tuple[slice, ...]:
    return tuple(slice(level, None) for level in levels)
