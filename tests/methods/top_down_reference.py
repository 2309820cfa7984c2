"""Top-down specialization on lists of records: everything counted anew, every cut tried.

A value of an attribute is a run of its codes (first, last). An option replaces a run by others.
Every round lists all options, the best first, and takes the first that leaves the whole table
private: nothing is remembered from one round to the next.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from fractions import Fraction
from typing import Any

Cell = str | None
Record = Mapping[str, Cell]
Run = tuple[int, int]
Cut = tuple[Run, ...]
"""The runs that an attribute shows."""

_SLACK = Fraction(1, 10**9)
_DIGITS = 12
_PATIENCE = 0.2
_MOST_STRATA = 32


@dataclass(frozen=True)
class Attribute:
    """A quasi-identifier: its values in order (missing last), and the labels above each of them.

    `above` lists them from the lowest to the root. Without it intervals are grown.
    """

    name: str
    kind: str
    values: tuple[Cell, ...]
    above: Mapping[Cell, tuple[str, ...]] | None = None

    def code(self, record: Record) -> int:
        return self.values.index(record[self.name])

    def options(self, run: Run) -> list[list[Run]]:
        """All ways to specialize a run: one if it has children, any cut if it is grown."""
        low, high = run
        if low == high:
            return []
        if self.above is None:
            if self.values[high] is None:
                return [[(low, high - 1), (high, high)]]
            return [[(low, last), (last + 1, high)] for last in range(low, high)]
        level = self._level(run)
        children: list[Run] = []
        for code in range(low, high + 1):
            node = self._node(code, level - 1)
            if children and self._node(children[-1][0], level - 1) == node:
                children[-1] = (children[-1][0], code)
            else:
                children.append((code, code))
        return [children]

    def label(self, run: Run) -> Cell:
        low, high = run
        if low == high:
            return self.values[low]
        if self.above is not None:
            label: Cell = self._node(low, self._level(run))[0]
            return label
        if run == (0, len(self.values) - 1):
            return "*"
        first, last = str(self.values[low]), str(self.values[high])
        if self.kind == "numeric":
            return f"[{first}-{int(last) + 1})"
        if self.kind == "date":
            return f"[{first}-{date.fromisoformat(last) + timedelta(days=1)})"
        return "{" + "|".join(str(value) for value in self.values[low : high + 1]) + "}"

    def _node(self, code: int, level: int) -> tuple[Any, ...]:
        """The node over a code: its label and all labels above it."""
        assert self.above is not None
        value = self.values[code]
        return (value, *self.above[value])[level:]

    def _level(self, run: Run) -> int:
        """The lowest level on which one node covers the run."""
        level = 0
        while len({self._node(code, level) for code in range(run[0], run[1] + 1)}) > 1:
            level += 1
        return level


def attribute_of(
    name: str,
    kind: str,
    records: Sequence[Record],
    *,
    order: Sequence[str] = (),
    above: Mapping[str, tuple[str, ...]] | None = None,
) -> Attribute:
    """The attribute as the records show it; categories without labels above lie under `*`."""
    present = {record[name] for record in records} - {None}
    known: list[Any] = sorted(present, key=int) if kind == "numeric" else sorted(present)
    if order:
        known = [value for value in order if value in present]
    values = (*known, *([None] if any(record[name] is None for record in records) else []))
    if above is None:
        flat = dict.fromkeys(values, ("*",)) if kind == "category" else None
        return Attribute(name, kind, values, flat)
    labels: dict[Cell, tuple[str, ...]] = {value: above[value] for value in known}
    if labels:
        *lower, root = next(iter(labels.values()))
        labels[None] = (*("" for _ in lower), root)
    else:
        labels[None] = ("*",)
    return Attribute(name, kind, values, labels)


def labels_of_tree(tree: Any) -> dict[str, tuple[str, ...]]:
    """The labels above every value of a nested tree, depth first, all of one length.

    Values of a short branch keep their own label for longer; `*` is the root of several tops.
    """

    def walk(below: Any, above: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
        if isinstance(below, list):
            for value in below:
                yield value, above
        else:
            for label, deeper in below.items():
                yield from walk(deeper, (label, *above))

    found = dict(walk(tree, () if len(tree) == 1 else ("*",)))
    depth = max(map(len, found.values()))
    return {value: (value,) * (depth - len(path)) + path for value, path in found.items()}


@dataclass(frozen=True)
class Step:
    """What a round replaced by what."""

    attribute: str
    value: Cell
    children: tuple[Cell, ...]
    score: float
    groups: int
    touched: int


@dataclass(frozen=True, order=True)
class _Option:
    """Sorts best first: by score, attribute, run, then the cut that lowers squares most."""

    minus_score: float
    attribute: int
    run: Run
    minus_fall: int
    children: tuple[Run, ...]


@dataclass
class Search:
    """A table in the making."""

    attributes: Sequence[Attribute]
    records: Sequence[Record]
    models: Sequence[Mapping[str, Mapping[str, Any]]]
    goal: str = "general"
    search: str = "frugal"
    target: str | None = None
    cuts: list[Cut] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.codes = [tuple(a.code(record) for a in self.attributes) for record in self.records]
        if not self.cuts:
            self.cuts = [((0, len(a.values) - 1),) for a in self.attributes]

    def shown(self, cuts: Sequence[Cut] | None = None) -> list[tuple[Cell, ...]]:
        """The labels of every record."""
        texts = [
            {code: a.label(run) for run in cut for code in range(run[0], run[1] + 1)}
            for a, cut in zip(self.attributes, cuts or self.cuts, strict=True)
        ]
        return [
            tuple(text[code] for text, code in zip(texts, codes, strict=True))
            for codes in self.codes
        ]

    def is_private(self, cuts: Sequence[Cut] | None = None) -> bool:
        return is_private(self.shown(cuts), self.records, self.models)

    def after(self, attribute: int, run: Run, children: Sequence[Run]) -> list[Cut]:
        """The cuts with a run replaced."""
        cuts = list(self.cuts)
        cuts[attribute] = tuple(sorted({*cuts[attribute], *children} - {run}))
        return cuts

    def options(self) -> list[tuple[int, Run, tuple[Run, ...]]]:
        """Every run of every attribute with every way to specialize it."""
        return [
            (a, run, tuple(children))
            for a, attribute in enumerate(self.attributes)
            for run in self.cuts[a]
            for children in attribute.options(run)
        ]

    def valid_options(self) -> list[tuple[int, Run, tuple[Run, ...]]]:
        return [option for option in self.options() if self.is_private(self.after(*option))]

    def touched(self, attribute: int, run: Run) -> int:
        return sum(run[0] <= codes[attribute] <= run[1] for codes in self.codes)

    def __iter__(self) -> Iterator[Step]:
        while True:
            ranked = sorted(self._ranked(*option) for option in self.options())
            for option in ranked:
                cuts = self.after(option.attribute, option.run, option.children)
                if self.is_private(cuts):
                    break
            else:
                return
            touched = self.touched(option.attribute, option.run)
            self.cuts = cuts
            attribute = self.attributes[option.attribute]
            yield Step(
                attribute.name,
                attribute.label(option.run),
                tuple(map(attribute.label, option.children)),
                -option.minus_score,
                len(set(self.shown())),
                touched,
            )

    def _ranked(self, attribute: int, run: Run, children: tuple[Run, ...]) -> _Option:
        score, fall = self.score(attribute, run, children), 0
        if self.goal == "general" and self.search == "greedy":
            fall = self._fall(attribute, run, children)
        return _Option(-round(score, _DIGITS), attribute, run, -fall, children)

    # --- what an option is worth

    def score(self, attribute: int, run: Run, children: Sequence[Run]) -> float:
        parts = [
            [
                record
                for record, codes in zip(self.records, self.codes, strict=True)
                if low <= codes[attribute] <= high
            ]
            for low, high in children
        ]
        if self.goal == "general":
            if self.search == "greedy":
                return float(self._squares(attribute, run, self.cuts))
            worth = self._fall(attribute, run, children) / len(self.records) ** 2
            return worth if self.search == "gain" else self._per_identity(worth, parts)
        if self.search == "greedy":
            return self._information_gain(parts)
        bits = math.fsum(
            self._information_gain(stratum) * sum(map(len, stratum)) - self._chance(stratum)
            for stratum in self._strata(parts)
        )
        worth = bits / len(self.records)
        return worth if self.search == "gain" else self._per_identity(worth, parts)

    def _squares(self, attribute: int, run: Run, cuts: Sequence[Cut]) -> int:
        """The squared sizes of the groups whose records are in a run, under some cuts."""
        sizes = Counter(
            labels
            for labels, codes in zip(self.shown(cuts), self.codes, strict=True)
            if run[0] <= codes[attribute] <= run[1]
        )
        return sum(size**2 for size in sizes.values())

    def _fall(self, attribute: int, run: Run, children: Sequence[Run]) -> int:
        """How much these squares fall when the run is replaced."""
        after = self._squares(attribute, run, self.after(attribute, run, children))
        return self._squares(attribute, run, self.cuts) - after

    def _entropy(self, records: Sequence[Record]) -> float:
        """Equation 3, in bits."""
        assert self.target is not None
        counts = Counter(record[self.target] for record in records).values()
        return -math.fsum(c / len(records) * math.log2(c / len(records)) for c in counts)

    def _information_gain(self, parts: Sequence[Sequence[Record]]) -> float:
        """Equation 2: the entropy of all less the mean of the parts."""
        whole = [record for part in parts for record in part]
        if not whole:
            return 0.0
        inside = math.fsum(len(p) / len(whole) * self._entropy(p) for p in parts if p)
        return self._entropy(whole) - inside

    def _chance(self, parts: Sequence[Sequence[Record]]) -> float:
        """The bits that the parts would seem to tell by chance."""
        assert self.target is not None
        filled = sum(bool(part) for part in parts)
        classes = len({record[self.target] for part in parts for record in part})
        return max(filled - 1, 0) * max(classes - 1, 0) / (2 * math.log(2))

    def _per_identity(self, worth: float, parts: Sequence[Sequence[Record]]) -> float:
        """Worth per bit of identity that the parts tell of each record of the table."""
        whole = sum(map(len, parts))
        told = math.fsum(len(p) * math.log2(whole / len(p)) for p in parts if p)
        return worth / (_PATIENCE + told / len(self.records)) if worth > 0 else worth

    def _strata(self, parts: Sequence[Sequence[Record]]) -> list[list[list[Record]]]:
        """The parts of the records that agree on the sensitive attributes (but the target)."""
        room = _MOST_STRATA
        kept: dict[str, set[Cell]] = {}
        for name in sensitive_attributes(self.models):
            counts = Counter(record[name] for record in self.records)
            number = min(len(counts), room)
            if name == self.target or number < 2:
                continue
            ranked = sorted(counts, key=lambda v: (-counts[v], v is None, v))
            kept[name] = set(ranked[: number - 1])  # and all others together
            room //= number
        found: dict[tuple[Any, ...], list[list[Record]]] = {}
        for number, part in enumerate(parts):
            for record in part:
                key = tuple(record[n] if record[n] in own else ... for n, own in kept.items())
                found.setdefault(key, [[] for _ in parts])[number].append(record)
        return list(found.values())


def sensitive_attributes(models: Sequence[Mapping[str, Mapping[str, Any]]]) -> list[str]:
    named = [model[name].get("sensitive") for model in models for name in model]
    return list(dict.fromkeys(name for name in named if name is not None))


# --- privacy, from the definitions


def is_private(
    shown: Sequence[tuple[Cell, ...]],
    records: Sequence[Record],
    models: Sequence[Mapping[str, Mapping[str, Any]]],
) -> bool:
    """Whether a whole table of labels satisfies all models."""
    return all(
        _holds(name, parameters, shown, records)
        for model in models
        for name, parameters in model.items()
    )


def _holds(
    name: str,
    given: Mapping[str, Any],
    shown: Sequence[tuple[Cell, ...]],
    records: Sequence[Record],
) -> bool:
    sensitive = given.get("sensitive")
    held: list[Cell] = [None if sensitive is None else record[sensitive] for record in records]
    everything = tuple(range(len(shown[0])))
    if name == "lkc":
        C = Fraction(given.get("C", 1.0)) if sensitive is not None else Fraction(1)
        return all(
            sum(crowd.values()) >= given["K"] and _surest(crowd, given.get("values")) <= C + _SLACK
            for size in range(1, min(given["L"], len(everything)) + 1)
            for choice in itertools.combinations(everything, size)
            for crowd in _crowds(shown, held, choice)
        )
    groups = _crowds(shown, held, everything)
    if name == "k-anonymity":
        return all(group.total() >= given["k"] for group in groups)
    if name == "confidence-bounding":
        return all(
            _surest(group, given.get("values")) <= Fraction(given["C"]) + _SLACK for group in groups
        )
    if name == "alpha-k":
        return all(
            group.total() >= given["k"]
            and _surest(group, given.get("values")) <= Fraction(given["alpha"]) + _SLACK
            for group in groups
        )
    if name == "l-diversity" and given.get("kind", "distinct") == "distinct":
        return all(len(group) >= given["l"] for group in groups)
    if name == "l-diversity" and given["kind"] == "entropy":
        return all(math.exp(_nats(group)) >= given["l"] - float(_SLACK) for group in groups)
    assert name == "t-closeness"
    whole = Counter(held)
    return all(_distance(group, whole) <= Fraction(given["t"]) + _SLACK for group in groups)


def _crowds(
    shown: Sequence[tuple[Cell, ...]], held: Sequence[Cell], choice: tuple[int, ...]
) -> list[Counter[Cell]]:
    """What the records hold that agree on the chosen labels."""
    found: dict[tuple[Cell, ...], Counter[Cell]] = {}
    for labels, value in zip(shown, held, strict=True):
        found.setdefault(tuple(labels[a] for a in choice), Counter())[value] += 1
    return list(found.values())


def _surest(crowd: Counter[Cell], values: Sequence[Cell] | None) -> Fraction:
    counted = list(crowd) if values is None else values
    return Fraction(max(crowd[value] for value in counted), crowd.total())


def _nats(group: Counter[Cell]) -> float:
    shares = [count / group.total() for count in group.values()]
    return -math.fsum(share * math.log(share) for share in shares)


def _distance(group: Counter[Cell], whole: Counter[Cell]) -> Fraction:
    """Half the sum of the differences of the shares: any two values are equally far apart."""
    return (
        sum(
            (
                abs(Fraction(group[v], group.total()) - Fraction(whole[v], whole.total()))
                for v in whole
            ),
            Fraction(0),
        )
        / 2
    )
