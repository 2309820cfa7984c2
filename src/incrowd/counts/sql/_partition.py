"""A partition of rows in an SQL engine: asked level by level, it counts whole levels at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from incrowd._runtime.arrays import IntArray
from incrowd.counts.base import Extents, HalvingPartition, JointHistograms, NodeHistograms, Splits
from incrowd.counts.groups import Groups, Histogram
from incrowd.counts.sql._halves import Halves, halves_of
from incrowd.counts.sql._nodes import UNMARKED, NodeTables
from incrowd.counts.sql._requests import (
    Entries,
    counted,
    counted_at_once,
    half_extents,
    left_codes,
    recoded,
)
from incrowd.counts.sql.groups import SqlGroups
from incrowd.table.sql_rows import SqlRows

_ENTRIES_AT_ONCE = 4_000_000


class SqlPartition(HalvingPartition):
    """Nodes as numbers beside the rows.

    Parameters
    ----------
    rows
        The distinct rows with their records.
    names
        The columns of the quasi-identifiers.
    cardinalities
        How many codes each of these has.
    sensitive
        The columns of the counted attributes, by name.
    totals
        How many records have each of their codes, by name.
    records
        How many there are.

    Notes
    -----
    A request is one aggregation over the tables that hold its nodes; `foresee` asks for all
    attributes in one. A split writes the rows of its nodes once more. In memory there are the
    counts of one portion of nodes, and at the end, for labels, those of all nodes one attribute
    after the other.
    """

    def __init__(
        self,
        rows: SqlRows,
        names: Sequence[str],
        cardinalities: Sequence[int],
        sensitive: Mapping[str, str],
        totals: Mapping[str, IntArray],
        records: int,
    ) -> None:
        self._nodes = NodeTables(rows, records)
        self._names = list(names)
        self._cardinalities = list(cardinalities)
        self._sensitive = dict(sensitive)
        self._totals = dict(totals)
        self._foreseen: dict[tuple[int, str | None], Entries] = {}
        self._foreseen_nodes = np.zeros(0, dtype=np.int64)

    def sizes(self, nodes: IntArray) -> IntArray:
        """How many records each node holds."""
        return self._nodes.sizes[nodes]

    def portions(self, nodes: IntArray) -> Iterator[IntArray]:
        """Nodes whose histograms fit into memory together."""
        widest = max((len(total) for total in self._totals.values()), default=1)
        entries = np.zeros(len(nodes), dtype=np.int64)
        for cardinality in self._cardinalities:
            entries += np.minimum(self.sizes(nodes), cardinality * widest)
        portion = np.cumsum(entries) // _ENTRIES_AT_ONCE
        for number in np.unique(portion).tolist():
            yield nodes[portion == number]

    def foresee(self, nodes: IntArray, sensitive: Sequence[str]) -> None:
        """Count all attributes of nodes at once, also with each of some sensitive attributes."""
        self._foreseen_nodes = nodes
        self._foreseen = {}
        for name in (None, *sensitive):
            value = None if name is None else self._sensitive[name]
            found = counted_at_once(nodes, self._nodes, self._names, value)
            for attribute, entries in enumerate(found):
                self._foreseen[attribute, name] = entries

    def histograms(
        self, attribute: int, nodes: IntArray, *, recoding: IntArray | None = None
    ) -> NodeHistograms:
        """The codes of an attribute that occur in each node, with their counts."""
        found = self._entries(nodes, attribute, None, recoding)
        return NodeHistograms(found.offsets(len(nodes)), found.codes[0], found.counts)

    def joint_histograms(
        self,
        attribute: int,
        sensitive: str,
        nodes: IntArray,
        *,
        recoding: IntArray | None = None,
        values: IntArray | None = None,
    ) -> JointHistograms:
        """The pairs of a code of an attribute and a sensitive value that occur in each node."""
        found = self._entries(nodes, attribute, sensitive, recoding, values)
        code, value = found.codes
        return JointHistograms(found.offsets(len(nodes)), code, value, found.counts)

    def extents(self, nodes: IntArray) -> Extents:
        """The extents of all attributes in each node."""
        shape = (len(nodes), len(self._names))
        low, high, distinct = (np.zeros(shape, dtype=np.int64) for _ in range(3))
        for attribute in range(len(self._names)):
            found = self.histograms(attribute, nodes)
            low[:, attribute] = found.codes[found.offsets[:-1]]
            high[:, attribute] = found.codes[found.offsets[1:] - 1]
            distinct[:, attribute] = np.diff(found.offsets)
        return Extents(low, high, distinct, self.sizes(nodes))

    def half_extents(
        self, splits: Splits, *, counting: Sequence[int] | None = None
    ) -> tuple[Extents, Extents]:
        """The extents of the left and the right halves that splits would make."""
        shape = (2, len(splits), len(self._names))
        low, high, distinct = (np.zeros(shape, dtype=np.int64) for _ in range(3))
        records = np.zeros(shape[:2], dtype=np.int64)
        counting = range(len(self._names)) if counting is None else counting
        to_count = {other: self._cardinalities[other] for other in counting}
        for attribute in np.unique(splits.attributes).tolist():
            chosen = np.flatnonzero(splits.attributes == attribute)
            name = self._names[attribute]
            found = half_extents(splits.take(chosen), self._nodes, name, self._names, to_count)
            side, split = found["side"].astype(np.int64), chosen[found["place"]]
            records[side, split] = found["n"]
            for other in range(len(self._names)):
                low[side, split, other] = found[f"low{other}"]
                high[side, split, other] = found[f"high{other}"]
                if other in to_count:
                    distinct[side, split, other] = found[f"distinct{other}"]
        return (
            Extents(low[0], high[0], distinct[0], records[0]),
            Extents(low[1], high[1], distinct[1], records[1]),
        )

    def groups(self, nodes: IntArray, sensitive: Sequence[str]) -> Groups:
        """Sizes and sensitive histograms of nodes, as privacy models judge them."""
        histograms = {}
        for name in sensitive:
            found = counted(nodes, self._nodes, [self._sensitive[name]], [None])
            histograms[name] = Histogram.of(
                found.offsets(len(nodes)), found.codes[0], found.counts, self._totals[name]
            )
        return Groups(self.sizes(nodes), histograms)

    def half_groups(self, splits: Splits, sensitive: Sequence[str]) -> tuple[Groups, Groups]:
        """Sizes and sensitive histograms of the halves that splits would make."""
        many = len(splits)
        sizes = self._halves(splits, None).sizes(many)
        left: dict[str, Histogram] = {}
        right: dict[str, Histogram] = {}
        for name in sensitive:
            halves = self._halves(splits, name)
            left[name] = halves.histogram(0, many, self._totals[name])
            right[name] = halves.histogram(1, many, self._totals[name])
        return Groups(sizes[0], left), Groups(sizes[1], right)

    def split(self, splits: Splits) -> tuple[IntArray, IntArray]:
        """Halve nodes; returns the numbers of the new left and right nodes."""
        first = len(self._nodes.sizes)
        left = np.arange(first, first + len(splits), dtype=np.int64)
        right = left + len(splits)
        if not len(splits):
            return left, right
        asked_of = {
            "node": splits.nodes, "place": np.arange(len(splits)), "attribute": splits.attributes,
            "on_left": left, "on_right": right,
        }  # fmt: skip
        cut = " ".join(f"WHEN {a} THEN r.{name}" for a, name in enumerate(self._names))
        nodes, engine = self._nodes, self._nodes.engine
        self._foreseen = {}
        with engine.lent(asked_of) as asked, engine.lent(left_codes(splits)) as lent:
            nodes.move(
                splits.nodes,
                f"SELECT {nodes.columns}, CASE WHEN {lent}.code IS NULL THEN {asked}.on_right "
                f"ELSE {asked}.on_left END AS node FROM ({nodes.of(splits.nodes)}) r JOIN {asked} "
                f"ON r.node = {asked}.node LEFT JOIN {lent} ON {lent}.place = {asked}.place "
                f"AND {lent}.code = CASE {asked}.attribute {cut} END",
                np.concatenate((splits.nodes, splits.nodes)),
            )
        return left, right

    def gather(self, nodes: IntArray) -> int:
        """Put the records of nodes into one new node, a part of the whole table."""
        tables, number = self._nodes, len(self._nodes.sizes)
        self._foreseen = {}
        with tables.engine.lent({"node": nodes}) as asked:
            tables.move(
                nodes,
                f"SELECT {tables.columns}, {number} AS node FROM ({tables.of(nodes)}) r "
                f"JOIN {asked} ON r.node = {asked}.node",
                np.zeros(1, dtype=np.int64),
            )
        return number

    def specialize(self, attribute: int, nodes: IntArray, child_of_code: IntArray) -> IntArray:
        """Split nodes by the child of their records' codes; the new nodes by (node, child)."""
        name, tables = self._names[attribute], self._nodes
        found = counted(nodes, tables, [name], [child_of_code])
        place, child = found.place, found.codes[0]
        first = len(tables.sizes)
        numbers = np.full((len(nodes), int(child_of_code.max(initial=-1)) + 1), -1, dtype=np.int64)
        numbers[place, child] = np.arange(first, first + len(place))
        codes = np.flatnonzero(child_of_code >= 0)
        children = {"code": codes, "child": child_of_code[codes]}
        asked_of = {"node": nodes[place], "child": child, "number": numbers[place, child]}
        self._foreseen = {}
        with tables.engine.lent(asked_of) as asked, tables.engine.lent(children) as lent:
            tables.move(
                nodes,
                f"SELECT {tables.columns}, {asked}.number AS node FROM ({tables.of(nodes)}) r "
                f"JOIN {lent} ON r.{name} = {lent}.code "
                f"JOIN {asked} ON r.node = {asked}.node AND {lent}.child = {asked}.child",
                nodes[place],
            )
        return numbers

    def combine(self, lookups: Mapping[str, IntArray | None], codes: IntArray) -> IntArray:
        """Split the whole table by combinations of recoded codes; the new node of each of them.

        `lookups` recodes columns, `codes` are all combinations that occur, in the same order.
        """
        tables = self._nodes
        whole = np.zeros(1, dtype=np.int64)
        numbers = np.arange(len(tables.sizes), len(tables.sizes) + len(codes))
        made = {f"k{i}": codes[:, i] for i in range(len(lookups))}
        with (
            tables.engine.lent({**made, "number": numbers}) as lent,
            recoded(tables.engine, lookups.items()) as (shown, joins),
        ):
            same = " AND ".join(f"{cell} = {lent}.k{i}" for i, cell in enumerate(shown))
            tables.move(
                whole,
                f"SELECT {tables.columns}, {lent}.number AS node FROM ({tables.of(whole)}) r "
                f"{joins} JOIN {lent} ON {same}",
                np.zeros(len(codes), dtype=np.int64),
            )
        return numbers

    def group_of_records(self, group_of_node: IntArray) -> SqlGroups:
        """For each record the group that its node was given, as the engine knows it."""
        nodes = self._nodes.open
        marks = np.full(len(self._nodes.sizes), UNMARKED, dtype=np.int64)
        marks[: len(group_of_node)] = group_of_node
        groups = self._nodes.inherited(marks)[nodes]
        if bool((groups == UNMARKED).any()):
            raise AssertionError("a record is in no group")
        rows, source = self._nodes.rows, self._nodes.of(nodes)
        return SqlGroups(rows, source, nodes, groups, self._nodes.held())

    def _halves(self, splits: Splits, sensitive: str | None) -> Halves:
        """What the halves of splits hold, from the counts of whole nodes."""
        parts = []
        for attribute in np.unique(splits.attributes).tolist():
            chosen = np.flatnonzero(splits.attributes == attribute)
            nodes = np.unique(splits.nodes[chosen])
            parts.append(
                halves_of(splits, chosen, nodes, self._entries(nodes, attribute, sensitive))
            )
        return Halves.join(parts)

    def _entries(
        self,
        nodes: IntArray,
        attribute: int,
        sensitive: str | None,
        recoding: IntArray | None = None,
        values: IntArray | None = None,
    ) -> Entries:
        """What occurs in nodes; from what was counted at once, if they were foreseen."""
        if recoding is None and values is None:
            known = self._foreseen.get((attribute, sensitive))
            places = _places(self._foreseen_nodes, nodes)
            if known is not None and places is not None:
                return known.of(places, len(self._foreseen_nodes))
        columns, lookups = [self._names[attribute]], [recoding]
        if sensitive is not None:
            columns.append(self._sensitive[sensitive])
            lookups.append(values)
        return counted(nodes, self._nodes, columns, lookups)


def _places(known: IntArray, nodes: IntArray) -> IntArray | None:
    """Where nodes stand among known ones, which ascend; None if one of them is not known."""
    if not len(known):
        return None
    places = np.minimum(np.searchsorted(known, nodes), len(known) - 1)
    return places if bool((known[places] == nodes).all()) else None
