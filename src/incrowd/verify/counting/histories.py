"""What an attacker can learn who knows a few facts of a patient, whichever they are.

Every combination of atoms that occurs is counted by joins of the table of atoms with itself: one
count for each shape, which is how many atoms of the patient's own and how many of events it has.
Support never grows with one more atom, so for K only those combinations are counted that some
patient cannot extend within the limits. A share may be largest anywhere: where values are
protected, all shapes are counted, that of nothing known too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from incrowd.verify.counting.facts import EVENTS, JOINT, OWN, AtomRun, PatientFacts
from incrowd.verify.counting.groups import UnjudgeableError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

MOST_ROWS = 10**10
"""The combinations of all patients together that are still counted: about an hour's work."""
ROWS_AT_ONCE = 5 * 10**8
"""The combinations that one query counts; more are counted in parts, by their first atom."""
NOBODY = 2**62
"""The support of a combination of a part in which there is none."""
HowMany = tuple[int, int]
"""How many atoms of the patient's own, and how many of events."""


@dataclass(frozen=True)
class Attacker:
    """What an attacker knows at most: `known` facts, so many of the patient's own and of events.

    `joint` is whether the patient's own attributes are one fact together.
    """

    known: int
    attributes: int
    events: int
    joint: bool = False

    @property
    def own(self) -> str:
        """The table of the patient's own atoms."""
        return JOINT if self.joint else OWN

    def allows(self, shape: HowMany) -> bool:
        """Whether so many atoms may be known together."""
        own, events = shape
        return own <= self.attributes and events <= self.events and own + events <= self.known


@dataclass(frozen=True)
class ProtectedShare:
    """The attributes whose values are protected, those listed or all, and their largest share."""

    attributes: tuple[str, ...]
    values: tuple[str, ...] | None
    limit: float


@dataclass(frozen=True)
class WorstCrowds:
    """What the counted combinations show: the worst of them, and the columns they are made of.

    `failing` of `count` break the promise; `values` are protected; `rows` were joined for it.
    """

    smallest: int
    smallest_by: tuple[str, ...]
    largest: float | None
    largest_by: tuple[str, ...]
    failing: int
    count: int
    values: int
    rows: int


@dataclass(frozen=True)
class _OfShape:
    """What combinations of one shape show, with the atoms of the worst."""

    size: int
    size_by: tuple[int, ...]
    share: float
    share_by: tuple[int, ...]
    failing: int
    count: int


def judge_histories(
    facts: PatientFacts, power: Attacker, k: int, protected: ProtectedShare | None = None
) -> WorstCrowds:
    """Return what all combinations of atoms show that the attacker may know of some patient.

    One fails that fewer than `k` patients have, or in which a protected value has a share above
    the limit. Raises an UnjudgeableError before counting where that would take hours.
    """
    own, events = facts.atoms(power.own), facts.atoms(EVENTS)
    if not facts.patients:
        raise UnjudgeableError("no patient is published")
    facts.connection.execute("DROP TABLE IF EXISTS held")
    chosen: tuple[Sequence[str], Sequence[str] | None] = ((), ())
    if protected is not None:
        chosen = protected.attributes, protected.values
    values = facts.hold("held", *chosen)
    numbers = _numbers(facts, power)
    every = protected is not None
    rows = {shape: _rows(shape, numbers) for shape in _shapes(power, {*numbers}, every=every)}
    refuse_work(sum(rows.values()))
    limit = None if protected is None else protected.limit
    found: dict[HowMany, _OfShape] = {}
    for shape, many in rows.items():
        parts = -(-many // ROWS_AT_ONCE) if sum(shape) else 1
        for part in range(parts):
            counted = _count(facts, power, shape, (part, parts), k, limit)
            found[shape] = _worse(found[shape], counted) if shape in found else counted
    worst = min(found, key=lambda shape: (found[shape].size, sum(shape), shape))
    surest = min(found, key=lambda shape: (-found[shape].share, sum(shape), shape))
    return WorstCrowds(
        smallest=found[worst].size,
        smallest_by=_names(worst, found[worst].size_by, own, events),
        largest=found[surest].share if every else None,
        largest_by=_names(surest, found[surest].share_by, own, events),
        failing=sum(each.failing for each in found.values()),
        count=sum(each.count for each in found.values()),
        values=values,
        rows=sum(rows.values()),
    )


def refuse_work(rows: int) -> None:
    """Raise an UnjudgeableError where so many combinations are more than can be counted."""
    if rows > MOST_ROWS:
        told = f"{rows:,}" if rows < 10**18 else f"10^{len(str(rows)) - 1}"
        raise UnjudgeableError(
            f"it would count {told} combinations of facts of single patients, more than"
            f" {MOST_ROWS:,}, which takes hours: promise fewer known facts, or publish fewer events"
            " of each patient (most-events)"
        )


def _numbers(facts: PatientFacts, power: Attacker) -> dict[HowMany, int]:
    """Return how many patients have so many atoms of their own, and of events.

    Who holds protected values counts once more for each, as it is counted once more.
    """
    found = facts.connection.execute(
        "SELECT own, events, sum(1 + held)::BIGINT FROM (SELECT p, count(*) FILTER (k = 1) AS own,"
        " count(*) FILTER (k = 2) AS events, count(*) FILTER (k = 3) AS held FROM"
        f" (SELECT p, 0 AS k FROM patient_numbers UNION ALL SELECT p, 1 AS k FROM {power.own}"
        f" UNION ALL SELECT p, 2 AS k FROM {EVENTS} UNION ALL SELECT p, 3 AS k FROM held)"
        " GROUP BY p) GROUP BY own, events"
    ).fetchall()
    return {(int(own), int(events)): int(many) for own, events, many in found}


def _rows(shape: HowMany, numbers: Mapping[HowMany, int]) -> int:
    """Return how many combinations of a shape all patients have together."""
    return sum(
        many * math.comb(own, shape[0]) * math.comb(events, shape[1])
        for (own, events), many in numbers.items()
    )


def _shapes(power: Attacker, numbers: Collection[HowMany], *, every: bool) -> list[HowMany]:
    """Return the shapes to count: `every` one that occurs, or those that nobody can extend."""
    most = max(own for own, _ in numbers), max(events for _, events in numbers)
    limits = (min(power.attributes, most[0]), min(power.events, most[1]))
    shapes = [
        shape
        for shape in product(*(range(limit + 1) for limit in limits))
        if power.allows((shape[0], shape[1]))
    ]
    return [
        (own, events)
        for own, events in shapes
        if any(
            own <= has[0]
            and events <= has[1]
            and (every or not _extends((own, events), has, power))
            for has in numbers
        )
    ]


def _extends(shape: HowMany, has: HowMany, power: Attacker) -> bool:
    """Whether a patient with so many atoms has one more to add to a combination of a shape."""
    own, events = shape
    return (own < has[0] and power.allows((own + 1, events))) or (
        events < has[1] and power.allows((own, events + 1))
    )


def _count(
    facts: PatientFacts,
    power: Attacker,
    shape: HowMany,
    part: tuple[int, int],
    k: int,
    limit: float | None,
) -> _OfShape:
    """Count the combinations of a shape, or the part of them that begin with certain atoms."""
    atoms = [f"a{at}" for at in range(sum(shape))]
    joined = _joined(power, shape, part)
    made = f"SELECT {''.join(f'{each}, ' for each in atoms)}count(*) AS n FROM ({joined})"
    if atoms:
        made += f" GROUP BY {', '.join(atoms)}"
    source = f"({made})"
    if limit is not None:
        facts.connection.execute(f"CREATE OR REPLACE TEMP TABLE supports AS {made}")
        source = "supports"
    sizes = facts.connection.execute(
        f"SELECT n, count(*), {_least(atoms)} FROM {source} GROUP BY n ORDER BY n"
    ).fetchall()
    size, by = (int(sizes[0][0]), _numbers_in(sizes[0][2])) if sizes else (NOBODY, ())
    few = sum(int(many) for n, many, _ in sizes if n < k)
    count = sum(int(many) for _, many, _ in sizes)
    if limit is None:
        return _OfShape(size, by, 0.0, (), few, count)
    share, share_by, sure = _shares(facts, joined, atoms, k, limit)
    return _OfShape(size, by, share, share_by, few + sure, count)


def _shares(
    facts: PatientFacts, joined: str, atoms: list[str], k: int, limit: float
) -> tuple[float, tuple[int, ...], int]:
    """Return the largest share of a protected value, its atoms, and how many large crowds fail."""
    listed = "".join(f"{each}, " for each in atoms)
    using = f"JOIN supports USING ({', '.join(atoms)})" if atoms else "CROSS JOIN supports"
    facts.connection.execute(
        f"CREATE OR REPLACE TEMP TABLE shares AS SELECT {listed}n, m / n AS share FROM"
        f" (SELECT {listed}max(m) AS m FROM (SELECT {listed}s, count(*) AS m FROM ({joined})"
        f" JOIN held USING (p) GROUP BY {listed}s) GROUP BY ALL) {using}"
    )
    ((largest, failing),) = facts.connection.execute(
        "SELECT max(share), count_if(share > $limit AND n >= $k) FROM shares",
        {"limit": limit, "k": k},
    ).fetchall()
    if largest is None:
        return 0.0, (), 0
    ((by,),) = facts.connection.execute(
        f"SELECT {_least(atoms)} FROM shares WHERE share = $largest", {"largest": largest}
    ).fetchall()
    return float(largest), _numbers_in(by), int(failing)


def _least(atoms: list[str]) -> str:
    """Return SQL for the first of several combinations."""
    return f"min([{', '.join(atoms)}])" if atoms else "NULL"


def _numbers_in(by: Sequence[int] | None) -> tuple[int, ...]:
    return () if by is None else tuple(map(int, by))


def _joined(power: Attacker, shape: HowMany, part: tuple[int, int]) -> str:
    """Return SQL that selects, for each patient `p`, each combination of a shape, as `a0`, …."""
    tables = [power.own] * shape[0] + [EVENTS] * shape[1]
    if not tables:
        return "SELECT p FROM patient_numbers"
    columns = "".join(f", x{at}.a AS a{at}" for at in range(len(tables)))
    sql = f"SELECT x0.p AS p{columns} FROM {tables[0]} AS x0"
    for at, table in enumerate(tables[1:], start=1):
        sql += f" JOIN {table} AS x{at} ON x{at}.p = x0.p"
        if table == tables[at - 1]:
            sql += f" AND x{at}.a > x{at - 1}.a"
    number, parts = part
    return sql if parts == 1 else f"{sql} WHERE x0.a % {parts} = {number}"


def _worse(one: _OfShape, other: _OfShape) -> _OfShape:
    """Return what two parts of one shape show together."""
    size = min(one, other, key=lambda each: (each.size, each.size_by))
    share = min(one, other, key=lambda each: (-each.share, each.share_by))
    return _OfShape(
        size.size, size.size_by, share.share, share.share_by,
        one.failing + other.failing, one.count + other.count,
    )  # fmt: skip


def _names(
    shape: HowMany, atoms: tuple[int, ...], own: Collection[AtomRun], events: Collection[AtomRun]
) -> tuple[str, ...]:
    """Return the columns that a combination is made of, those of one event together."""
    return tuple(
        " with ".join(source.columns)
        for at, atom in enumerate(atoms)
        for source in (own if at < shape[0] else events)
        if source.first <= atom < source.first + source.many
    )
