"""Tables of codes, and what a partition of their records must answer, record by record."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from incrowd.counts import Splits
from incrowd.table import Column, MemoryTable, narrow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from incrowd.counts import NodeHistograms
    from incrowd.counts.groups import Groups, Histogram

Record = tuple[int, ...]


def table_of(
    records: Sequence[Record], cardinalities: Sequence[int], quasi: int
) -> tuple[MemoryTable, list[str], list[str]]:
    """A table of these codes (the first `quasi` columns known, the rest sensitive), and names."""
    columns = []
    for position, cardinality in enumerate(cardinalities):
        codes = np.array([record[position] for record in records], dtype=np.int64)
        columns.append(
            Column(
                f"{'q' if position < quasi else 's'}{position}",
                "quasi" if position < quasi else "sensitive",
                "category",
                narrow(codes, cardinality),
                tuple(str(code) for code in range(cardinality)),
            )
        )
    names = [column.name for column in columns]
    return MemoryTable(tuple(columns), len(records)), names[:quasi], names[quasi:]


class PlainPartition:
    """The records of every node, kept as lists of their numbers."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = records
        self.nodes: list[list[int]] = [list(range(len(records)))]

    def halves(self, node: int, attribute: int, left: set[int]) -> tuple[list[int], list[int]]:
        inside = [r for r in self.nodes[node] if self.records[r][attribute] in left]
        return inside, [r for r in self.nodes[node] if self.records[r][attribute] not in left]

    def split(self, asked: Sequence[tuple[int, int, set[int]]]) -> None:
        """All left halves get numbers first, then all right ones."""
        made = [self.halves(*each) for each in asked]
        self.nodes += [left for left, _ in made]
        self.nodes += [right for _, right in made]

    def counts(self, members: Iterable[int], column: int) -> dict[int, int]:
        return dict(sorted(Counter(self.records[r][column] for r in members).items()))


def splits_of(asked: Sequence[tuple[int, int, set[int]]]) -> Splits:
    """The same splits as a partition takes them."""
    lengths = [len(left) for _, _, left in asked]
    return Splits(
        np.array([node for node, _, _ in asked], dtype=np.int64),
        np.array([attribute for _, attribute, _ in asked], dtype=np.int64),
        np.cumsum([0, *lengths], dtype=np.int64),
        np.array([code for _, _, left in asked for code in left], dtype=np.int64),
    )


def entries(found: NodeHistograms | Histogram, group: int) -> dict[int, int]:
    """The codes of one node or group with their counts, in the order they were given."""
    begin, end = int(found.offsets[group]), int(found.offsets[group + 1])
    codes = found.codes if hasattr(found, "codes") else found.values
    listed = codes[begin:end].tolist()
    assert listed == sorted(set(listed)), "codes ascend, each once"
    return dict(zip(listed, found.counts[begin:end].tolist(), strict=True))


def same_groups(
    found: Groups,
    members: Sequence[Sequence[int]],
    plain: PlainPartition,
    sensitive: dict[str, int],
    cardinalities: Sequence[int],
) -> None:
    """Sizes, sensitive histograms and totals are those of the records."""
    assert found.sizes.tolist() == [len(each) for each in members]
    assert set(found.histograms) == set(sensitive)
    for name, column in sensitive.items():
        histogram = found.histograms[name]
        assert histogram.cardinality == cardinalities[column]
        totals = plain.counts(range(len(plain.records)), column)
        assert histogram.total.tolist() == [totals.get(c, 0) for c in range(cardinalities[column])]
        assert len(histogram.offsets) == len(members) + 1
        assert [entries(histogram, g) for g in range(len(members))] == [
            plain.counts(each, column) for each in members
        ]
