"""Attacks on releases for attackers who know events, by one who knows the truth of half of them.

What is promised is that few known facts leave a crowd. What is not, and can be told here in
figures, is bounded too, so that a change that tells more is seen; `docs/histories.md` has them.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from histories_attacker import (
    CODES,
    Shown,
    Truth,
    crowds,
    drawn,
    guesses_of_coarse,
    guesses_of_hidden,
    guesses_of_hiding,
    hidden,
    holders_by_rows,
    in_small_sets_by_absence,
    policy_of,
    released,
)

from incrowd._runtime import randomness

SECRET = {"B0.0"}
PROTECTING = {"sensitive": ["conditions.code"], "values": [*SECRET]}


@pytest.fixture(autouse=True)
def _same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(randomness, "_bytes", random.Random(1).randbytes)


def attacked(
    folder: Path, patients: int, promise: dict[str, Any], *, seed: int = 7, **method: Any
) -> tuple[Truth, dict[str, Shown]]:
    truth = drawn(patients, seed)
    policy = policy_of(folder, {"lkc": {"events": 2, **promise}}, **method)
    return truth, released(truth, policy)


@pytest.mark.parametrize("recoding", ["local", "global"])
@pytest.mark.parametrize("known", [2, 3])
def test_whoever_is_looked_up_by_true_facts_is_in_a_crowd(
    known: int, recoding: str, tmp_path: Path
) -> None:
    """Also by a fact that is published as `*` of few, where others show another value.

    When that label was no fact, 23 of 200 patients were among fewer than five by three facts, some
    alone.
    """
    truth, shown = attacked(tmp_path, 200, {"L": known, "K": 5}, recoding=recoding)
    towns = {each.own["town"] for each in shown.values()}
    assert "*" in towns
    assert ("north" in towns) is (recoding == "local")
    sizes = [len(crowd) for _, crowd in crowds(truth, shown, known)]
    assert len(sizes) > 1000
    assert min(sizes) >= 5


def test_a_protected_event_is_told_to_few_with_a_little_more_than_promised(tmp_path: Path) -> None:
    """Who looks true codes up joins crowds of several labels, each of which keeps C by itself."""
    truth, shown = attacked(tmp_path, 80, {"L": 2, "K": 2, "C": 0.4, **PROTECTING}, seed=11)
    holders = {line for line, each in shown.items() if each.atoms & SECRET}
    assert holders == {line for line, codes in truth.codes.items() if codes & SECRET}
    shares = [len(crowd & holders) / len(crowd) for _, crowd in crowds(truth, shown, 2, SECRET)]
    above = sum(share > 0.4 + 1e-9 for share in shares)
    assert above / len(shares) < 0.03
    assert max(shares) < 0.5


def test_what_is_behind_a_coarse_label_is_guessed_somewhat_better_than_blindly(
    tmp_path: Path,
) -> None:
    """Frequent codes left for labels of their own, so a coarse one means an unusual one."""
    truth, shown = attacked(tmp_path, 1500, {"L": 2, "K": 5})
    blind, by_label, many = guesses_of_coarse(truth, shown)
    assert many > 500
    assert blind - 0.05 < by_label < blind + 0.2
    assert by_label < 0.5


@pytest.mark.parametrize("bound", [0.35, 0.5])
def test_hidden_events_are_not_reconstructed(bound: float, tmp_path: Path) -> None:
    """Neither which code is hidden, nor whose: who looks alike hides what anybody does."""
    promise = {"L": 2, "K": 5, "C": bound, **PROTECTING}
    truth, shown = attacked(tmp_path, 600, promise)
    assert sum(len(hidden(truth, shown, line, SECRET)) for line in shown) > 100
    blind, alike, many = guesses_of_hidden(truth, shown, SECRET)
    assert many > 50
    assert alike < blind + 0.1
    nothing, by_rows = guesses_of_hiding(truth, shown, SECRET)
    assert by_rows < nothing + 0.3  # sicker patients have more rows, and more of them are hidden
    for holders, alike in holders_by_rows(truth, shown, SECRET):
        assert holders / alike < bound + 3 * (bound * (1 - bound) / alike) ** 0.5


def test_what_a_patient_never_had_leaves_few_alone_here(tmp_path: Path) -> None:
    """No promise is about it; and no row is left out for what a patient lacks."""
    _, shown = attacked(tmp_path, 600, {"L": 2, "K": 5, "C": 0.5, **PROTECTING})
    assert in_small_sets_by_absence(shown, 5) < 0.02
    alone = sum(many == 1 for many in Counter(len(each.rows) for each in shown.values()).values())
    assert alone < 5


def repeated(patients: int) -> Truth:
    """Each patient has a code twice, and the protected one twice if at all."""
    draw = random.Random(3)
    own = {str(n): (draw.randint(20, 89), draw.choice("FM"), "north") for n in range(patients)}
    rows = []
    for line in own:
        rows += [(line, draw.choice(CODES[-4:]))] * 2
        rows += [(line, "B0.0")] * (2 * (draw.random() < 0.3))
    return Truth(own, rows)


def test_which_of_equal_rows_is_kept_and_whose_is_whose_is_drawn(tmp_path: Path) -> None:
    """The first row of the source is kept as often as the second, of protected ones too."""
    truth = repeated(800)
    promise = {"L": 2, "K": 5, "C": 0.5, "events": 2, **PROTECTING}
    shown = released(truth, policy_of(tmp_path, {"lkc": promise}))
    for protected in (False, True):
        kept = [
            row > 0 and truth.rows[row - 1] == truth.rows[row]
            for each in shown.values()
            for label, row in each.rows
            if (label in SECRET) is protected
        ]
        assert len(kept) > 200
        assert abs(np.mean(kept) - 0.5) < 2 / len(kept) ** 0.5
    numbers = [shown[line].pseudonym for line in truth.own]
    assert abs(np.corrcoef(numbers, range(len(numbers)))[0, 1]) < 4 / len(numbers) ** 0.5
    assert all(len(each.rows) == len(each.atoms) for each in shown.values())


def test_holders_of_protected_events_are_not_marked_by_what_else_is_shown(tmp_path: Path) -> None:
    """Who holds one shows as many of the other codes as anybody with codes that are as common."""
    truth, shown = attacked(tmp_path, 1500, {"L": 2, "K": 5, "C": 0.6, **PROTECTING})
    covered: dict[bool, list[bool]] = {True: [], False: []}
    for line, each in shown.items():
        lost = hidden(truth, shown, line, SECRET)
        for code in truth.codes[line] - SECRET:
            if code[0] == "A":  # of which those have more who hold it
                covered[bool(each.atoms & SECRET)].append(code not in lost)
    shares = [np.mean(covered[holds]) for holds in (True, False)]
    assert min(map(len, covered.values())) > 100
    assert abs(shares[0] - shares[1]) < 0.1
