"""A table with a row for each event, judged by a model about attackers who know some of them.

Everything is counted: each choice of so many atoms of each patient. That is for tables that a
person looks at; the method and the judge of releases count larger ones.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import polars as pl

from incrowd.errors import InputError, ParameterError, nearest
from incrowd.privacy._measurement import Measurement
from incrowd.privacy.base import SLACK
from incrowd.sources import describe, read

if TYPE_CHECKING:
    from incrowd.privacy._attacker import Adversary
    from incrowd.privacy.base import PrivacyModel

_MOST_CHOICES = 20_000_000
"""How many choices of atoms are counted at most."""
Atom = tuple[Any, ...]


def check_events(
    model: PrivacyModel,
    frame: object,
    *,
    quasi: Sequence[str],
    unit: str | None,
    attributes: Sequence[str],
) -> Measurement:
    """What a model measures on a table of events, cells compared as they are written.

    Parameters
    ----------
    model
        The model.
    frame
        A pandas, polars or Arrow frame, or a path.
    quasi
        The columns of events that are known together.
    unit
        The column that tells patients apart.
    attributes
        The quasi-identifiers of patients.

    Raises
    ------
    InputError
        A column is not there, or differs between rows of a patient.
    ParameterError
        There is no unit, or there are too many choices to count.
    """
    asked = model.attacker
    assert asked is not None
    if unit is None or isinstance(quasi, str) or not len(quasi):
        raise ParameterError(
            f"{model.name}: a table of events is judged by `quasi`, the columns of events that "
            'are known, as in ["code"], and `unit`, the column that tells patients apart.'
        )
    table = read(frame)
    sensitive = [name for name in model.sensitive_attributes if name not in quasi]
    for name in (unit, *quasi, *attributes, *sensitive):
        if name not in table.columns:
            raise InputError(
                f"No column '{name}' in {describe(frame)}.{nearest(name, table.columns)}"
            )
    table = table.select(pl.col(dict.fromkeys([unit, *quasi, *attributes, *sensitive])))
    holders = _holders(model, table, unit)
    own = _own_atoms(table, unit, attributes, jointly=asked.jointly)
    events = _event_atoms(table, unit, quasi, _protected_rows(model, table, quasi))
    return _measured(model, replace(asked, protected={}), own, events, holders)


def _holders(model: PrivacyModel, table: pl.DataFrame, unit: str) -> list[set[Any]]:
    """The patients who hold each protected value."""
    values = getattr(model, "values", None)
    found: dict[tuple[str, Any], set[Any]] = defaultdict(set)
    for name in model.sensitive_attributes:
        for who, value in table.select(unit, name).rows():
            if values is None or str(value) in values:
                found[name, value].add(who)
    return list(found.values())


def _protected_rows(model: PrivacyModel, table: pl.DataFrame, quasi: Sequence[str]) -> list[bool]:
    """For each row, whether a column that is known shows a protected value: it is no atom then."""
    values = getattr(model, "values", None)
    both = [name for name in model.sensitive_attributes if name in quasi]
    if both and values is None:
        raise ParameterError(
            f"{model.name}: '{both[0]}' is known to attackers and protected. List the `values` "
            "that are protected."
        )
    listed_values = {*(values or ())}
    return [any(str(cell) in listed_values for cell in row) for row in table.select(both).rows()]


def _own_atoms(
    table: pl.DataFrame, unit: str, attributes: Sequence[str], *, jointly: bool
) -> dict[Any, set[Atom]]:
    """The atoms of each patient that are no events."""
    found: dict[Any, set[Atom]] = {}
    for who, *cells in table.select(unit, *attributes).rows():
        atoms = {("", *cells)} if jointly else {*zip(attributes, cells, strict=True)}
        if found.setdefault(who, atoms) != atoms:
            raise InputError("Columns of `attributes` differ between the rows of one patient.")
    return found


def _event_atoms(
    table: pl.DataFrame, unit: str, quasi: Sequence[str], protected: Sequence[bool]
) -> dict[Any, set[Atom]]:
    """The distinct events of each patient."""
    found: dict[Any, set[Atom]] = defaultdict(set)
    rows = table.select(unit, *quasi).rows()
    hidden = protected or [False] * len(rows)
    for (who, *cells), no_atom in zip(rows, hidden, strict=True):
        if not no_atom:
            found[who].add(tuple(cells))
    return found


def _measured(
    model: PrivacyModel,
    asked: Adversary,
    own: dict[Any, set[Atom]],
    events: dict[Any, set[Atom]],
    holders: list[set[Any]],
) -> Measurement:
    """The smallest support, the largest share, and how many supports fail."""
    most = sum(
        comb(len(own[who]), a) * comb(len(events.get(who, ())), e)
        for who in own
        for a in range(asked.of_patients + 1)
        for e in range(min(asked.of_events, asked.L - a) + 1)
    )
    if most > _MOST_CHOICES:
        raise ParameterError(
            f"{model.name}: {most:,} choices of facts are too many to count here. Judge fewer "
            "rows, or ask for fewer known facts."
        )
    sizes: Counter[tuple[frozenset[Atom], frozenset[Atom]]] = Counter()
    held: Counter[tuple[int, tuple[frozenset[Atom], frozenset[Atom]]]] = Counter()
    for who in own:
        secrets = [number for number, patients in enumerate(holders) if who in patients]
        for choice in _choices(asked, own[who], events.get(who, set())):
            sizes[choice] += 1
            for number in secrets:
                held[number, choice] += 1
    surest: dict[Any, float] = defaultdict(float)
    for (_, choice), many in held.items():
        surest[choice] = max(surest[choice], many / sizes[choice])
    failing = sum(
        size < asked.K or surest.get(choice, 0.0) > asked.C + SLACK
        for choice, size in sizes.items()
    )
    numbers: dict[str, float] = {model.size: min(sizes.values(), default=0)}
    if holders:
        numbers[model.share] = max(surest.values(), default=0.0)
    return Measurement(not failing and bool(sizes), numbers, failing)


def _choices(
    asked: Adversary, own: set[Atom], events: set[Atom]
) -> Iterator[tuple[frozenset[Atom], frozenset[Atom]]]:
    """Every choice of atoms of a patient that may be known, that of none too."""
    for a in range(min(asked.of_patients, len(own)) + 1):
        for some in combinations(own, a):
            for e in range(min(asked.of_events, asked.L - a, len(events)) + 1):
                for others in combinations(events, e):
                    yield frozenset(some), frozenset(others)
