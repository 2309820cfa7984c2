"""Who holds a release of histories, has read the code, and knows the truth of half the patients.

Patients and rows of events carry numbers that no promise is about (`line`, `row`): with these the
tests know who is who, and the attacker knows it of the half.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

import incrowd

BLOCKS = [f"{chapter}{block}" for chapter in "ABCD" for block in range(4)]
CODES = [f"{block}.{code}" for block in BLOCKS for code in range(4)]
TOWNS = ("north", "south", "east", "west", "center")


@dataclass(frozen=True)
class Truth:
    """The source: of each patient its attributes, and the code of each row."""

    own: dict[str, tuple[int, str, str]]
    rows: list[tuple[str, str]]

    @property
    def codes(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {line: set() for line in self.own}
        for line, code in self.rows:
            found[line].add(code)
        return found


def drawn(patients: int, seed: int, *, often: float = 3.0) -> Truth:
    """Patients of whom some live where few do, with codes some of which are rare.

    Those with a code of chapter A have one of B more often than others.
    """
    draw = random.Random(seed)
    weights = [1 / (rank + 2) ** 0.9 for rank in range(len(CODES))]
    draw.shuffle(weights)
    own, rows = {}, []
    for line in map(str, range(patients)):
        town = draw.choices(TOWNS, [30, 20, 5, 2, 1])[0]
        own[line] = (draw.randint(20, 89), draw.choice("FM"), town)
        many = min(int(draw.expovariate(1 / often)), 10)
        codes = draw.choices(CODES, weights, k=many)
        codes += ["B0.0"] * (any(code[0] == "A" for code in codes) and draw.random() < 0.5)
        rows += [(line, code) for code in codes]
    draw.shuffle(rows)
    return Truth(own, rows)


def policy_of(folder: Path, promise: dict[str, Any], **method: Any) -> dict[str, Any]:
    path = folder / "codes.csv"
    path.write_text("".join(f"{code};{code[:2]};{code[0]};*\n" for code in CODES))
    ages = {"intervals": {"start": 20, "stop": 100, "widths": [5, 10, 40]}}
    return {
        "patients": {
            "key": "line",
            "attributes": {
                "line": "identifier", "who": "keep", "sex": "quasi", "town": "quasi",
                "age": {"role": "quasi", "hierarchy": ages},
            },
        },
        "tables": {
            "conditions": {
                "unit": "of",
                "attributes": {
                    "code": {"role": "quasi", "hierarchy": str(path)}, "row": "keep",
                },
            }
        },
        "privacy": [promise],
        "method": {"name": "histories", **method},
    }  # fmt: skip


def frames(truth: Truth) -> dict[str, pl.DataFrame]:
    own = [(line, line, *cells) for line, cells in truth.own.items()]
    rows = [(line, code, str(number)) for number, (line, code) in enumerate(truth.rows)]
    return {
        "patients": pl.DataFrame(own, ["line", "who", "age", "sex", "town"], orient="row"),
        "conditions": pl.DataFrame(rows, ["of", "code", "row"], orient="row"),
    }


@dataclass(frozen=True)
class Shown:
    """What is published of a patient: labels of attributes; of each row its label and number."""

    pseudonym: int
    own: dict[str, str]
    rows: list[tuple[str, int]] = field(default_factory=list)

    @property
    def atoms(self) -> set[str]:
        return {label for label, _ in self.rows}


def released(truth: Truth, policy: dict[str, Any]) -> dict[str, Shown]:
    """What is published of each patient, by the number that no promise is about."""
    release = incrowd.anonymize(frames(truth), policy, accept_unprotected=True)
    found, line = {}, {}
    for row in release.tables["patients"].rows(named=True):
        line[row["patient"]] = row["who"]
        found[row["who"]] = Shown(int(row["patient"]), {n: row[n] for n in ("age", "sex", "town")})
    for row in release.tables["conditions"].rows(named=True):
        found[line[row["patient"]]].rows.append((row["code"], int(row["row"])))
    return found


def covers(label: str, value: object) -> bool:
    """Whether a label may stand for a value."""
    if label == "*":
        return True
    if isinstance(value, int) and label.startswith("["):
        low, high = map(int, label[1:-1].split("-"))
        return low <= value < high
    return str(value).startswith(label) if value in CODES else label == str(value)


@dataclass(frozen=True)
class Lookup:
    """Whom each true fact fits in a release, as a list of people with facts is looked up."""

    own: dict[tuple[str, object], frozenset[str]]
    codes: dict[str, frozenset[str]]

    def fitting(self, truth: Truth, line: str) -> list[frozenset[str]]:
        """For each fact that is true of a patient, those whom it fits."""
        named = zip(("age", "sex", "town"), truth.own[line], strict=True)
        return [self.own[each] for each in named] + [
            self.codes[code] for code in sorted(truth.codes[line]) if code in self.codes
        ]


def lookup(truth: Truth, shown: dict[str, Shown], secret: set[str]) -> Lookup:
    own: dict[tuple[str, object], frozenset[str]] = {}
    for at, name in enumerate(("age", "sex", "town")):
        for value in {cells[at] for cells in truth.own.values()}:
            own[name, value] = frozenset(
                line for line, each in shown.items() if covers(each.own[name], value)
            )
    codes = {
        code: frozenset(
            line
            for line, each in shown.items()
            if any(covers(label, code) for label in each.atoms - secret)
        )
        for code in CODES
        if code not in secret
    }
    return Lookup(own, codes)


def crowds(
    truth: Truth, shown: dict[str, Shown], known: int, secret: Collection[str] = ()
) -> Iterator[tuple[str, frozenset[str]]]:
    """Of each patient whom so many true facts of it fit, wherever the patient is among these."""
    found = lookup(truth, shown, set(secret))
    for line in shown:
        fitting = found.fitting(truth, line)
        for many in range(1, known + 1):
            for some in combinations(fitting, many):
                crowd = frozenset.intersection(*some)
                if line in crowd:
                    yield line, crowd


def half(shown: dict[str, Shown]) -> tuple[list[str], list[str]]:
    """Those whose truth is known to the attacker, and those whom it is guessed of."""
    lines = sorted(shown)
    random.Random(5).shuffle(lines)
    return lines[: len(lines) // 2], lines[len(lines) // 2 :]


def guesses_of_coarse(truth: Truth, shown: dict[str, Shown]) -> tuple[float, float, int]:
    """How often the code behind a coarse label is guessed: blindly, and by what half shows.

    Blind is the most frequent code under the label among all codes of the known half; the other
    guess the most frequent one behind that very label.
    """
    known, others = half(shown)
    every: dict[str, Counter[str]] = defaultdict(Counter)
    behind: dict[str, Counter[str]] = defaultdict(Counter)
    for line in known:
        for code in truth.codes[line]:
            for label in (code[:2], code[0], "*"):
                every[label][code] += 1
        for label, row in shown[line].rows:
            behind[label][truth.rows[row][1]] += 1
    right = [0, 0]
    many = 0
    for line in others:
        for label, row in shown[line].rows:
            if label not in CODES and every[label] and behind[label]:
                many += 1
                for at, table in enumerate((every, behind)):
                    right[at] += table[label].most_common(1)[0][0] == truth.rows[row][1]
    return right[0] / many, right[1] / many, many


def hidden(truth: Truth, shown: dict[str, Shown], line: str, secret: Collection[str]) -> set[str]:
    """The codes of a patient that no published label covers."""
    labels = shown[line].atoms - set(secret)
    return {
        code
        for code in truth.codes[line] - set(secret)
        if not any(covers(label, code) for label in labels)
    }


def guesses_of_hidden(
    truth: Truth, shown: dict[str, Shown], secret: Collection[str]
) -> tuple[float, float, int]:
    """How often a hidden code of a patient is guessed: blindly, and by who looks most alike.

    Blind is the code that the known half hides most often; the other guess is that of those of the
    known half, with something hidden, who show most alike.
    """
    known, others = half(shown)
    lost = {line: hidden(truth, shown, line, secret) for line in shown}
    often = Counter(code for line in known for code in lost[line])
    alike = [line for line in known if lost[line]]
    right, many = [0, 0], 0
    for line in others:
        if lost[line] and alike:
            many += 1
            mine = _looks(shown[line])
            near = max(alike, key=lambda other: len(mine & _looks(shown[other])))
            nearest = Counter(
                code
                for other in alike
                if len(mine & _looks(shown[other])) == len(mine & _looks(shown[near]))
                for code in lost[other]
            )
            for at, table in enumerate((often, nearest)):
                right[at] += table.most_common(1)[0][0] in lost[line]
    return right[0] / max(many, 1), right[1] / max(many, 1), many


def guesses_of_hiding(
    truth: Truth, shown: dict[str, Shown], secret: Collection[str]
) -> tuple[float, float]:
    """How often it is guessed whether a patient has something hidden: blindly, and by its rows."""
    known, others = half(shown)
    hides = {line: bool(hidden(truth, shown, line, secret)) for line in shown}
    by_rows: dict[int, Counter[bool]] = defaultdict(Counter)
    whole = Counter(hides[line] for line in known)
    for line in known:
        by_rows[len(shown[line].rows)][hides[line]] += 1
    right = [0, 0]
    for line in others:
        seen = by_rows[len(shown[line].rows)] or whole
        for at, table in enumerate((whole, seen)):
            right[at] += table.most_common(1)[0][0] == hides[line]
    return right[0] / len(others), right[1] / len(others)


def holders_by_rows(
    truth: Truth, shown: dict[str, Shown], secret: Collection[str]
) -> list[tuple[int, int]]:
    """Of those with as many rows that are not protected: who holds a protected value, and all."""
    holds = {line for line, code in truth.rows if code in secret}
    alike: dict[int, Counter[bool]] = defaultdict(Counter)
    for line, each in shown.items():
        alike[sum(label not in secret for label, _ in each.rows)][line in holds] += 1
    return [(each[True], each.total()) for each in alike.values()]


def _looks(shown: Shown) -> set[tuple[str, str]]:
    return {*shown.own.items()} | {("code", label) for label in shown.atoms}


def in_small_sets_by_absence(shown: dict[str, Shown], k: int) -> float:
    """The share of patients who are among fewer than k who have one label, and never another."""
    holding: dict[str, set[str]] = defaultdict(set)
    for line, each in shown.items():
        for label in each.atoms:
            holding[label].add(line)
    exposed: set[str] = set()
    for one in holding.values():
        for other in holding.values():
            if 0 < len(one - other) < k:
                exposed |= one - other
    return len(exposed) / len(shown)
