"""One measure for all tools: what a published table loses, its groups, and whether k and l hold.

Every tool writes its labels in its own way. Here they are read into incrowd's labels, value by
value, and incrowd's own NCP is taken, over the same domains and hierarchies for every tool. A label
that cannot be read is an error, never a guess.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl

from incrowd.hierarchies.labels import plain_label, set_label
from incrowd.privacy import KAnonymity, LDiversity
from incrowd.utility import ncp

_SPAN = re.compile(r"(-?\d+)(?:\.0+)?(?: ?- ?(-?\d+)(?:\.0+)?)?", re.ASCII)


@dataclass(frozen=True)
class Domain:
    """The values of an attribute, and how many of them each label of its hierarchy stands for."""

    name: str
    numeric: bool
    values: frozenset[str]
    weights: Mapping[str, int]

    def entry(self, labels: str) -> dict[str, Any]:
        """The attribute as a manifest describes it."""
        found: dict[str, Any] = {
            "name": self.name,
            "role": "quasi",
            "published": True,
            "type": "numeric" if self.numeric else "category",
            "labels": labels,
            "domain": len(self.values),
            "decimals": 0,
        }
        return found | ({"weights": dict(self.weights)} if labels == "hierarchy" else {})


def read_domain(name: str, path: Path, *, numeric: bool) -> Domain:
    """The domain that a file of a hierarchy lists: one line per value, its labels, `*`."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = [line for line in csv.reader(file) if line]
    values = frozenset(line[0] for line in lines)
    weights: dict[str, int] = {}
    for line in lines:
        for label in set(line[1:]):
            weights[label] = weights.get(label, 0) + 1
    twofold = [label for label in values & weights.keys() if weights[label] > 1]
    if twofold:
        raise ValueError(f"{name}: {len(twofold)} labels are values too, and stand for several")
    return Domain(name, numeric, values, weights)


def label_of(cell: str, domain: Domain, labels: str, separator: str = ",") -> str:
    """A tool's cell as a label of incrowd: `17-23` is `[17-24)`, `a,b` is `{a|b}`.

    `labels` says how the tool writes: `incrowd` as incrowd does, `hierarchy` by the labels of the
    hierarchy, `sets` by members with a separator, and numbers by the smallest and the largest.
    """
    if labels == "incrowd" or cell == "*":
        return cell
    if labels == "hierarchy":
        if cell not in domain.values and cell not in domain.weights:
            raise ValueError(f"{domain.name}: a label that its hierarchy lacks")
        return cell
    if domain.numeric:
        return _range(cell, domain.name)
    readings = _readings(cell, domain.values, separator)
    if len(readings) != 1:
        raise ValueError(f"{domain.name}: a label that is no set of its values, or several")
    return set_label(sorted(*readings))


def _range(cell: str, name: str) -> str:
    matched = _SPAN.fullmatch(cell)
    if matched is None:
        raise ValueError(f"{name}: a label that is no number and no range")
    low, high = int(matched[1]), int(matched[2] or matched[1])
    if high < low:
        raise ValueError(f"{name}: a range that ends before it begins")
    return plain_label(str(low)) if low == high else f"[{low}-{high + 1})"


def _readings(cell: str, values: frozenset[str], separator: str) -> set[frozenset[str]]:
    """The sets of values that a cell may mean; values may themselves hold the separator."""

    @cache
    def from_place(at: int) -> frozenset[frozenset[str]]:
        found: set[frozenset[str]] = set()
        for value in values:
            end = at + len(value)
            if not cell.startswith(value, at):
                continue
            if end == len(cell):
                found.add(frozenset([value]))
            elif cell.startswith(separator, end):
                found.update(rest | {value} for rest in from_place(end + len(separator)))
        return frozenset(found)

    return set(from_place(0))


def labelled(
    frame: pl.DataFrame, domains: Sequence[Domain], labels: str, separator: str
) -> pl.DataFrame:
    """The quasi-identifiers of a published table with every cell as a label of incrowd."""
    columns = []
    for domain in domains:
        column = frame[domain.name].cast(pl.String)
        if column.null_count():
            raise ValueError(f"{domain.name}: {column.null_count():,} cells are missing")
        made = {cell: label_of(cell, domain, labels, separator) for cell in column.unique()}
        columns.append(column.replace_strict(made, return_dtype=pl.String))
    return pl.DataFrame(columns)


@dataclass(frozen=True)
class Measured:
    """What is found of a published table, whoever published it."""

    ncp: float
    groups: int
    published: int
    k: int
    l: int | None  # noqa: E741

    def broken(self, k: int, l: int | None) -> list[str]:  # noqa: E741
        """The promises that the table does not keep."""
        found = [] if self.k >= k else [f"only k={self.k}"]
        if l is not None and (self.l is None or self.l < l):
            found.append(f"only l={self.l}")
        return found


def measure(
    frame: pl.DataFrame,
    domains: Sequence[Domain],
    source: int,
    *,
    labels: str = "incrowd",
    separator: str = ",",
    k: int = 5,
    sensitive: str | None = None,
) -> Measured:
    """NCP and groups of a published table; its k and l as incrowd's models count them.

    Parameters
    ----------
    frame
        One row per published record, cells as the tool wrote them.
    domains
        The quasi-identifiers.
    source
        The records that were to be published: each one that lacks loses everything.
    labels, separator
        How the tool writes, see `label_of`.
    k
        The k that the tool was asked for.
    sensitive
        The column of which the different values per group are counted.

    Notes
    -----
    k and l are counted on the cells as the tool wrote them: two spellings of one set are two
    groups, as they are to whoever reads the file. NCP and groups are of the labels that were read.
    Cost: one pass per column; only different cells are read.
    """
    quasi = [domain.name for domain in domains]
    read = labelled(frame, domains, labels, separator)
    entries = [domain.entry("set" if labels == "sets" else "hierarchy") for domain in domains]
    records = {
        "source": source,
        "published": frame.height,
        "suppressed": source - frame.height,
        "missing_dropped": 0,
    }
    release: Any = SimpleNamespace(data=read, manifest={"records": records, "attributes": entries})
    different = None
    if sensitive is not None:
        found = LDiversity(l=2, sensitive=sensitive).check(frame, quasi=quasi)
        different = int(found.numbers["l"])
    return Measured(
        ncp=ncp(release).total,
        groups=read.n_unique(),
        published=frame.height,
        k=int(KAnonymity(k=k).check(frame, quasi=quasi).numbers["k"]),
        l=different,
    )
