"""What all hospitals but one find out together about the last: its part of what was opened.

They hold every answer and all their own parts, so of each sum they know what the last one added,
of each bit what it said, and of the release its share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml
from round_table import Chair, RoundTable
from scipy.optimize import linprog

import incrowd
from incrowd.federation.run._joint_table import Made, make
from incrowd.federation.run._own_records import read_own
from incrowd.federation.run._sealed_search import SealedSpecialization
from incrowd.sources import as_source

EXAMPLE = Path(__file__).parents[2] / "examples" / "hospitals"
QUASI = ("age", "sex", "marital_status", "employment", "insurance")
K, C = 10, 0.33
Lie = Callable[[np.random.Generator, Mapping[str, Any], Any], Any]
"""What a member sends in the place of its own part of an answer."""


def example_policy(**more: Any) -> dict[str, Any]:
    """The policy of the example of three hospitals."""
    policy = yaml.safe_load((EXAMPLE / "policy.yaml").read_text(encoding="utf-8"))
    policy["attributes"]["insurance"]["hierarchy"] = str(EXAMPLE / "hierarchies" / "insurance.csv")
    return {**policy, **more}


def example_parts() -> list[pl.DataFrame]:
    """The records of the example: 320, 240 and 160."""
    return [pl.read_csv(EXAMPLE / f"{name}.csv") for name in ("north", "south", "west")]


def invented(rows: int, follows: str | None = None, seed: int = 5) -> pl.DataFrame:
    """Records in all combinations, whose class follows one attribute, so that it is split first."""
    rng = np.random.default_rng(seed)
    policy, drawn = example_policy()["attributes"], {"age": rng.integers(0, 120, rows)}
    for name, asked in policy.items():
        if name == "insurance":
            drawn[name] = rng.choice(pl.concat(example_parts())[name].unique().sort(), rows)
        elif name != "age":
            drawn[name] = rng.choice(_leaves(asked["hierarchy"]["tree"]), rows)
    if follows is not None:
        classes = np.array(policy["blood_group"]["hierarchy"]["tree"])
        drawn["blood_group"] = classes[
            np.unique(drawn[follows], return_inverse=True)[1] % len(classes)
        ]
    return pl.DataFrame(drawn)


def _leaves(tree: Any) -> list[str]:
    if isinstance(tree, dict):
        return [leaf for below in tree.values() for leaf in _leaves(below)]
    return list(tree)


def in_small_crowds(labels: Any, facts: int = 2) -> Any:
    """For each record, whether some choice of so many columns leaves it in a crowd below K."""
    small = np.zeros(len(labels), dtype=np.bool_)
    for known in combinations(range(labels.shape[1]), facts):
        _, place, sizes = np.unique(
            labels[:, known], axis=0, return_inverse=True, return_counts=True
        )
        small |= (sizes < K)[place.ravel()]
    return small


class Liar(Chair):
    """A member that follows the course of the run and sends what it likes."""

    def __init__(self, chair: Chair, lie: Lie, seed: int) -> None:
        super().__init__(chair.table, chair.place)
        self._lie, self._rng = lie, np.random.default_rng([seed, chair.place])

    def sum(self, request: Mapping[str, Any], counts: Any) -> Any:
        return super().sum(request, self._lie(self._rng, request, counts))

    def any(self, request: Mapping[str, Any], marks: Any) -> Any:
        return super().any(request, self._lie(self._rng, request, marks))


def against_the_first(
    parts: Sequence[pl.DataFrame], policy: dict[str, Any], lie: Lie, seed: int
) -> tuple[Made, RoundTable]:
    """What the first hospital comes to when all others lie, and what was said."""
    wanted, table = incrowd.Policy.from_mapping(policy), RoundTable(len(parts))

    def act(chair: Chair) -> Made:
        session = Liar(chair, lie, seed) if chair.place else chair
        return make(read_own(as_source(parts[chair.place]), wanted), session)  # type: ignore[arg-type]

    return table.meet(act)[0], table


@dataclass
class Shown:
    """For each attribute, the place of the label of each code in the release that was made last."""

    places: dict[str, Any]

    @classmethod
    def watching(cls, monkeypatch: pytest.MonkeyPatch) -> Shown:
        """Keeps what the labels of the release tell about the codes."""
        shown, public_outcome = cls({}), SealedSpecialization.public_outcome

        def watched(search: SealedSpecialization) -> Any:
            shown.places = {cut.column.name: cut.place_of_code() for cut in search._cuts}
            return public_outcome(search)

        monkeypatch.setattr(SealedSpecialization, "public_outcome", watched)
        return shown


class Last:
    """What the others know of one hospital: class counts as it told them, and its share."""

    def __init__(
        self, part: pl.DataFrame, policy: dict[str, Any], place: int, table: RoundTable,
        shown: Shown, step: int,
    ) -> None:  # fmt: skip
        prepared = read_own(as_source(part), incrowd.Policy.from_mapping(policy)).prepared().table
        self._codes = {column.name: column.codes.astype(int) for column in prepared.columns}
        self._classes = self._codes["blood_group"]
        self._shown, self._step = shown.places, step
        self._told: dict[str, list[tuple[Any, Any]]] = {name: [] for name in QUASI}
        for request, answers in table.heard:
            if request["ask"] == "combinations":
                (name, steps), _ = request["of"][0]
                self._keep(name, steps, np.asarray(answers[place]))

    def _keep(self, name: str, steps: list[list[int]], told: Any) -> None:
        """Note what was told of each run that was asked about."""
        run = np.zeros(len(self._shown[name]), dtype=int)
        for begin, number in steps:
            run[begin:] = number
        for number, counts in enumerate(told.reshape(run.max() + 1, -1)):
            self._told[name].append((run == number, counts))

    def bounds(self, one: str, other: str) -> Iterator[tuple[int, int, int]]:
        """At least, in truth and at most: the records of each crowd that two facts single out."""
        rows, columns = self._parts_of(one), self._parts_of(other)
        classes = int(self._classes.max()) + 1
        shape = (len(rows), len(columns), classes)
        exact, known, within, most = [], [], [], []
        for i, j in {(self._label(one, i), self._label(other, j)) for i in rows for j in columns}:
            here = np.zeros(shape)
            here[np.ix_(
                [self._label(one, each) == i for each in rows],
                [self._label(other, each) == j for each in columns],
            )] = 1  # fmt: skip
            shows = (self._shown[one][self._codes[one]] == i) & (
                self._shown[other][self._codes[other]] == j
            )
            for number in range(classes):
                exact.append(_only(here, number))
                known.append(int((shows & (self._classes == number)).sum()))
        for axis, name, parts in ((0, one, rows), (1, other, columns)):
            for run, told in self._told[name]:
                inside = np.array([run[part].all() for part in parts])
                here = np.zeros(shape)
                np.moveaxis(here, axis, 0)[inside] = 1
                for number in range(classes):
                    low, high = _interval(int(told[number]), self._step)
                    within += [_only(here, number), -_only(here, number)]
                    most += [high, -low]
        for i, j in np.ndindex(shape[:2]):
            crowd = np.zeros(shape)
            crowd[i, j] = 1
            ends = []
            for sign in (1, -1):
                found = linprog(sign * crowd.ravel(), within, most, exact, known, method="highs")
                assert found.status == 0
                ends.append(sign * found.fun)
            true = np.isin(self._codes[one], rows[i]) & np.isin(self._codes[other], columns[j])
            yield int(np.ceil(ends[0] - 1e-6)), int(true.sum()), int(np.floor(ends[1] + 1e-6))

    def _parts_of(self, name: str) -> list[Any]:
        """The codes of an attribute in parts that the others can tell apart."""
        marks = np.stack([self._shown[name], *(run for run, _ in self._told[name])], axis=1)
        _, part = np.unique(marks, axis=0, return_inverse=True)
        return [np.flatnonzero(part.ravel() == number) for number in range(part.max() + 1)]

    def _label(self, name: str, part: Any) -> int:
        return int(self._shown[name][part[0]])


def _only(here: Any, number: int) -> Any:
    """The cells of one class among some."""
    kept = np.zeros_like(here)
    kept[..., number] = here[..., number]
    return kept.ravel()


def _interval(told: int, step: int) -> tuple[int, int]:
    """What a hospital may have counted when it told this."""
    if told == 0:
        return 0, step - 1
    return max(step, told - step // 2), told - step // 2 + step - 1
