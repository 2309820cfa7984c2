"""An attacker who knows the shifts of half the patients, and the code, guesses those of the others.

Each shift is drawn by itself, so nothing that is published, and no shift that is known, tells
another. Every way of guessing here must be as good as a blind guess, and no better.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import incrowd
from incrowd._runtime import randomness
from incrowd._runtime.secret_key import SecretKey

PATIENTS, CHOICES = 1500, 53
"""Shifts of at most 26 weeks, by whole weeks."""

Shown = list[tuple[int, str, str, int | None]]
"""Of each published patient, in order: number of the row, label, day, and the shift if known."""


def days(seed: int) -> list[date]:
    draw = np.random.default_rng(seed)
    return [date(2020, 1, 1) + timedelta(int(n)) for n in draw.integers(0, 900, PATIENTS)]


def released(key: Path | None) -> tuple[Shown, list[int]]:
    """The published patients with the shifts of every other one, and all true shifts in order."""
    source = days(7)
    frame = pl.DataFrame(
        {
            "id": [f"P{n}" for n in range(PATIENTS)],
            "age": [n % 30 for n in range(PATIENTS)],
            "line": [str(n) for n in range(PATIENTS)],
            "seen": source,
        }
    )
    policy: dict[str, Any] = {
        "unit": "id",
        "attributes": {
            "id": "identifier",
            "age": "quasi",
            "line": "keep",  # which the attacker has for the half, and the test for all
            "seen": {"role": "keep", "level": "event",
                     "time": {"shift": "182 days", "weeks": True}},
        },
        "privacy": [{"k-anonymity": {"k": 3}}],
    }  # fmt: skip
    release = incrowd.anonymize(frame, policy, accept_unprotected=True, key=key)
    shown, truth = [], []
    for at, (age, line, day) in enumerate(release.data.select("age", "line", "seen").rows()):
        shift = (date.fromisoformat(day) - source[int(line)]).days // 7
        truth.append(shift)
        shown.append((at, age, day, shift if at % 2 else None))
    return shown, truth


def most_frequent(shown: Shown) -> list[int]:
    ((best, _),) = Counter(known for *_, known in shown if known is not None).most_common(1)
    return [best] * len(shown)


def that_of_the_neighbour(shown: Shown) -> list[int]:
    return [shown[at ^ 1][3] or 0 for at in range(len(shown))]


def the_step_from_neighbour_to_neighbour(shown: Shown) -> list[int]:
    """As of a generator of numbers that counts on."""
    known = [shown[at | 1][3] or 0 for at in range(len(shown))]
    return [2 * known[at] - known[max(at - 2, 0)] for at in range(len(shown))]


def most_frequent_with(place: int) -> Callable[[Shown], list[int]]:
    """The most frequent known shift of those who show the same label, or the same day."""

    def guessed(shown: Shown) -> list[int]:
        counts: dict[object, Counter[int]] = defaultdict(Counter)
        for each in shown:
            if each[3] is not None:
                counts[each[place]][each[3]] += 1
        best = {label: found.most_common(1)[0][0] for label, found in counts.items()}
        return [best.get(each[place], 0) for each in shown]

    return guessed


def back_into_the_study(shown: Shown) -> list[int]:
    """The smallest shift that leads the published day back to where days can be."""
    begin, end = date(2020, 1, 1), date(2020, 1, 1) + timedelta(899)
    found = []
    for _, _, text, _ in shown:
        day = date.fromisoformat(text)
        late, early = (day - end).days, (day - begin).days
        found.append(-(-late // 7) if late > 0 else early // 7 if early < 0 else 0)
    return found


GUESSES = {
    "most frequent": most_frequent,
    "neighbour": that_of_the_neighbour,
    "step": the_step_from_neighbour_to_neighbour,
    "label": most_frequent_with(1),
    "day": most_frequent_with(2),
}


@pytest.fixture(params=["drawn", "by a key"])
def shown(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Shown, list[int]]:
    monkeypatch.setattr(randomness, "_bytes", np.random.default_rng(22).bytes)
    if request.param == "drawn":
        return released(None)
    path = tmp_path / "a.key"
    path.write_bytes(np.random.default_rng(3).bytes(32))
    path.chmod(0o600)
    assert SecretKey.read(path)
    return released(path)


def test_the_other_half_is_guessed_no_better_than_blindly(shown: tuple[Shown, list[int]]) -> None:
    half, truth = shown
    assert len(set(truth)) == CHOICES
    for name, guess in GUESSES.items():
        guessed = guess(half)
        unknown = [at for at, *_, known in half if known is None]
        right = sum(guessed[at] == truth[at] for at in unknown)
        assert right < 40, f"{name}: {right} of {len(unknown)}"


def test_the_test_finds_shifts_that_hang_together(shown: tuple[Shown, list[int]]) -> None:
    """The same guesses are right where neighbours have one shift, so they can fail."""
    half, _ = shown
    pairs = [(at, age, day, at // 2 % CHOICES if at % 2 else None) for at, age, day, _ in half]
    guessed = GUESSES["neighbour"](pairs)
    assert sum(guessed[at] == at // 2 % CHOICES for at in range(0, len(half), 2)) == len(half) // 2


def test_a_day_outside_of_the_study_bounds_the_shift_and_does_not_tell_it(
    shown: tuple[Shown, list[int]],
) -> None:
    """Who is shifted out of the study moved at least so far: that is known, and nothing more."""
    half, truth = shown
    bounds = back_into_the_study(half)
    outside = [at for at, bound in enumerate(bounds) if bound]
    assert len(outside) > 100
    assert all(abs(truth[at]) >= abs(bounds[at]) for at in outside)
    exact = sum(truth[at] == bounds[at] for at in outside)
    assert exact < len(outside) / 4
