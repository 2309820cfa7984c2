from collections.abc import Callable

import numpy as np
import pytest

from incrowd.datasets.draws import Draws


def test_streams_differ_by_purpose_and_by_seed_and_repeat() -> None:
    one = Draws(50, 1)
    assert np.array_equal(one.uniform("a"), Draws(50, 1).uniform("a"))
    assert not np.array_equal(one.uniform("a"), one.uniform("b"))
    assert not np.array_equal(one.uniform("a"), Draws(50, 2).uniform("a"))


@pytest.mark.parametrize("draw", [Draws.uniform, Draws.bell])
def test_a_short_table_is_the_beginning_of_a_long_one(
    draw: Callable[[Draws, str], np.ndarray],
) -> None:
    assert np.array_equal(draw(Draws(10, 3), "a"), draw(Draws(1000, 3), "a")[:10])


def test_uniform_numbers_lie_strictly_between_0_and_1_and_fill_the_space() -> None:
    numbers = Draws(100_000, 0).uniform("a")
    assert 0 < numbers.min() < 0.001
    assert 0.999 < numbers.max() < 1
    assert numbers.mean() == pytest.approx(0.5, abs=0.005)


def test_bell_has_mean_0_and_deviation_near_1_and_no_far_tails() -> None:
    numbers = Draws(200_000, 0).bell("a")
    assert numbers.mean() == pytest.approx(0, abs=0.01)
    assert numbers.std() == pytest.approx(1, abs=0.03)
    assert np.abs(numbers).max() <= 2.5
    assert np.mean(np.abs(numbers) < 1) == pytest.approx(0.67, abs=0.02)


def test_choice_follows_the_weights() -> None:
    chosen = Draws(100_000, 0).choose("a", np.array([1.0, 0.0, 3.0, 6.0]))
    assert np.bincount(chosen, minlength=4) / 100_000 == pytest.approx([0.1, 0, 0.3, 0.6], abs=0.01)


def test_choice_given_a_row_follows_that_row_and_never_takes_weight_0() -> None:
    weights = np.array([[0.0, 0.1, 0.2, 0.0], [5.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1e-9]])
    given = np.arange(90_000) % 3
    chosen = Draws(90_000, 0).choose("a", weights, given)
    assert set(chosen[given == 0]) == {1, 2}
    assert np.mean(chosen[given == 0] == 1) == pytest.approx(1 / 3, abs=0.01)
    assert set(chosen[given == 1]) == {0}
    assert set(chosen[given == 2]) == {3}


def test_extreme_draws_stay_inside_their_row(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.array([[0.0, 0.7, 0.1, 0.2, 0.0]] * 500)
    draws, given = Draws(500, 0), np.arange(500)
    for bits, expected in ((0, 1), (2**64 - 1, 3)):
        monkeypatch.setattr(
            Draws, "_bits", lambda self, _, bits=bits: np.full(self.rows, bits, dtype=np.uint64)
        )
        assert set(draws.choose("a", weights, given)) == {expected}


def test_chance_is_the_share_of_the_rows() -> None:
    assert Draws(100_000, 0).chance("a", 0.2).mean() == pytest.approx(0.2, abs=0.01)
