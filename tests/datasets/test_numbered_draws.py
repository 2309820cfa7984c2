import numpy as np
import pytest

from incrowd.datasets.numbered_draws import NumberedDraws, Urns, scaled


def numbers(many: int, first: int = 0) -> np.ndarray:
    return np.arange(first, first + many, dtype=np.uint64)


def test_draws_differ_by_purpose_and_by_seed_and_repeat() -> None:
    one = NumberedDraws(1)
    assert np.array_equal(one.bits("a", numbers(50)), NumberedDraws(1).bits("a", numbers(50)))
    assert not np.any(one.bits("a", numbers(50)) == one.bits("b", numbers(50)))
    assert not np.any(one.bits("a", numbers(50)) == NumberedDraws(2).bits("a", numbers(50)))


def test_a_number_has_its_draw_whatever_is_asked_for_beside_it() -> None:
    draws, every = NumberedDraws(3), numbers(1000)
    shuffled = np.random.default_rng(0).permutation(every)
    assert np.array_equal(draws.uniform("a", every)[shuffled], draws.uniform("a", shuffled))
    assert np.array_equal(draws.names("a", every)[500:], draws.names("a", numbers(500, 500)))


def test_what_is_asked_for_stays_as_it_is() -> None:
    asked = numbers(10)
    NumberedDraws(0).bits("a", asked)
    NumberedDraws(0).names("a", asked)
    assert np.array_equal(asked, numbers(10))


def test_uniform_numbers_lie_strictly_between_0_and_1_and_fill_the_space() -> None:
    found = NumberedDraws(0).uniform("a", numbers(100_000))
    assert 0 < found.min() < 0.001
    assert 0.999 < found.max() < 1
    assert np.histogram(found, 20, (0, 1))[0] == pytest.approx(np.full(20, 5000), rel=0.06)


@pytest.mark.parametrize("step", [1, 2**7, 2**14, 2**30])
def test_neighbours_are_drawn_independently(step: int) -> None:
    draws = NumberedDraws(0)
    found = draws.uniform("a", numbers(50_000) * np.uint64(step))
    assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 0.02
    other = draws.uniform("b", numbers(50_000) * np.uint64(step))
    assert abs(np.corrcoef(found, other)[0, 1]) < 0.02


def test_each_bit_is_set_half_of_the_time() -> None:
    bits = NumberedDraws(5).bits("a", numbers(20_000))
    shares = [float(((bits >> np.uint64(place)) & np.uint64(1)).mean()) for place in range(64)]
    assert shares == pytest.approx([0.5] * 64, abs=0.02)


def test_names_are_all_different_and_unrelated_to_the_order() -> None:
    every = np.concatenate([numbers(200_000), numbers(1000, 2**44 - 1000)])
    names = NumberedDraws(0).names("a", every)
    assert len(np.unique(names)) == len(every)
    assert int(names.max()) < 2**44
    assert abs(np.corrcoef(np.arange(len(names)), names.astype(float))[0, 1]) < 0.01


def test_urns_follow_the_weights_of_the_row_and_never_take_weight_0() -> None:
    urns = Urns(np.array([[0, 1, 3, 0], [5, 0, 0, 0], [0, 0, 0, 7]]))
    given = np.arange(90_000) % 3
    drawn = urns.drawn(NumberedDraws(0).bits("a", numbers(90_000)), given)
    assert set(drawn[given == 0]) == {1, 2}
    assert np.mean(drawn[given == 0] == 1) == pytest.approx(0.25, abs=0.01)
    assert set(drawn[given == 1]) == {0}
    assert set(drawn[given == 2]) == {3}


def test_the_least_and_the_most_bits_stay_inside_the_row() -> None:
    urns, given = Urns(np.array([[0, 7, 1, 2, 0]] * 300)), np.arange(300)
    for bits, expected in ((0, 1), (2**64 - 1, 3)):
        assert set(urns.drawn(np.full(300, bits, dtype=np.uint64), given)) == {expected}
        end = 2**31 - 1
        assert scaled(np.array([bits], dtype=np.uint64), end)[0] == (end - 1 if bits else 0)
