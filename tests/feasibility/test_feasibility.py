import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd import datasets
from incrowd.errors import InputError, ParameterError
from incrowd.feasibility import feasibility, feasibility_of
from incrowd.feasibility._advice import records_needed
from incrowd.feasibility._cells import (
    COARSE,
    ChanceCells,
    halved,
    leaving_out_each,
    of_weights,
    product,
    uniform,
)
from incrowd.feasibility._closed_form import chance_of, expected_below
from incrowd.feasibility._simulation import simulate
from incrowd.feasibility.result import chance_in_words

TABLE_12 = [  # binary attributes, k, records, repetitions, share of them that were k-anonymous
    (3, 3, 50, 50, 0.68),
    (3, 3, 75, 50, 1.0),
    (3, 5, 75, 50, 0.74),
    (3, 5, 100, 50, 1.0),
    (7, 5, 1200, 500, 0.0),
    (7, 5, 7500, 500, 1.0),
    (12, 5, 30_000, 500, 0.0),
    (12, 5, 100_000, 500, 1.0),
    (15, 5, 750_000, 200, 0.96),
    (18, 5, 2_000_000, 200, 0.0),
]
WEIGHTS = st.lists(st.floats(0.02, 1), min_size=1, max_size=4)


def binary(attributes: int) -> ChanceCells:
    return product([uniform(2)] * attributes)


def enumerated(chances: list[float], records: int, k: int) -> float:
    """The same chance by going through all ways to fill the cells."""

    def ways(cell: int, left: int) -> float:
        if cell == len(chances):
            return 1.0 if left == 0 else 0.0
        total: float = sum(
            chances[cell] ** count / math.factorial(count) * ways(cell + 1, left - count)
            for count in (0, *range(k, left + 1))
            if count <= left
        )
        return total

    return math.factorial(records) * ways(0, records)


def products(weights: list[list[float]]) -> list[float]:
    found = [1.0]
    for each in weights:
        found = [chance * weight / sum(each) for chance in found for weight in each]
    return found


@pytest.mark.parametrize(("attributes", "k", "records", "repetitions", "share"), TABLE_12)
def test_table_12_of_the_thesis_is_within_two_standard_errors(
    attributes: int, k: int, records: int, repetitions: int, share: float
) -> None:
    chance = chance_of(binary(attributes), records, k)
    assert chance.exact
    error = math.sqrt(chance.value * (1 - chance.value) / repetitions)
    assert abs(share - chance.value) <= 2 * error + 1e-9


@pytest.mark.parametrize(("attributes", "k", "records"), [row[:3] for row in TABLE_12])
def test_closed_form_agrees_with_the_simulation(attributes: int, k: int, records: int) -> None:
    drawn = simulate([np.ones(2)] * attributes, records, k, times=60 if records > 10**5 else 1000)
    assert drawn is not None
    chance = chance_of(binary(attributes), records, k).value
    assert abs(drawn.share - chance) <= 2.5 * drawn.standard_error


@settings(max_examples=25)
@given(st.lists(WEIGHTS, min_size=1, max_size=2), st.integers(1, 16), st.integers(2, 5))
def test_closed_form_is_the_enumeration_on_tiny_cases(
    weights: list[list[float]], records: int, k: int
) -> None:
    cells = product([of_weights(each) for each in weights])
    expected = enumerated(products(weights), records, k)
    assert chance_of(cells, records, k).value == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(
    "weights",
    [
        [[1, 1, 1], [5, 3, 1]],
        [[50, 1], [50, 1], [1, 1]],
        [[9, 3, 1], [7, 2], [2, 1], [30, 1]],
    ],
)
@pytest.mark.parametrize(("records", "k"), [(60, 3), (400, 5)])
def test_skewed_attributes_agree_with_the_simulation(
    weights: list[list[float]], records: int, k: int
) -> None:
    arrays = [np.array(each, dtype=np.float64) for each in weights]
    chance = chance_of(product([of_weights(each) for each in arrays]), records, k).value
    drawn = simulate(arrays, records, k, times=4000)
    assert drawn is not None
    assert abs(drawn.share - chance) <= 3 * drawn.standard_error


def test_the_three_ways_to_simulate_agree() -> None:
    from incrowd.feasibility import _simulation as simulation

    weights = [np.ones(2), np.ones(3)]
    shares = []
    for way in (simulation._by_counts, simulation._by_even_cells, simulation._by_values):
        random = np.random.Generator(np.random.PCG64(3))
        shares.append(sum(way(random, weights, 30, 3) for _ in range(3000)) / 3000)
    chance = chance_of(product([uniform(2), uniform(3)]), 30, 3).value
    assert shares == pytest.approx([chance] * 3, abs=0.03)
    assert 0.1 < chance < 0.95


@pytest.mark.parametrize(
    ("attributes", "k", "records"), [(3, 3, 300), (7, 5, 1800), (12, 5, 70000)]
)
def test_approximation_is_near_the_exact_chance(attributes: int, k: int, records: int) -> None:
    cells = binary(attributes)
    exact, near = (chance_of(cells, records, k, work=work) for work in (10**9, 0))
    assert exact.exact
    assert not near.exact
    assert near.value == pytest.approx(exact.value, rel=1 / records, abs=1e-12)


@pytest.mark.parametrize(("attributes", "k"), [(2, 2), (3, 3), (5, 5)])
def test_more_records_raise_the_chance(attributes: int, k: int) -> None:
    first = k * 2**attributes
    chances = [
        chance_of(binary(attributes), records, k).value for records in range(first, 4 * first)
    ]
    assert chances == sorted(chances)
    assert chances[0] < 0.3
    assert chances[-1] > 0.6


@settings(max_examples=30)
@given(
    st.lists(st.lists(st.integers(1, 9), min_size=2, max_size=5), min_size=2, max_size=3),
    st.integers(3, 80),
    st.integers(2, 4),
)
def test_coarser_attributes_never_lower_the_chance(
    weights: list[list[int]], records: int, k: int
) -> None:
    parts = [of_weights(each) for each in weights]
    before = chance_of(product(parts), records, k).value
    coarser = [of_weights(halved(np.array(weights[0], dtype=np.float64))), *parts[1:]]
    without = chance_of(product(parts[1:]), records, k).value
    assert before - 1e-9 <= chance_of(product(coarser), records, k).value <= without + 1e-9


def test_fewer_records_than_k_are_never_k_anonymous() -> None:
    assert chance_of(binary(3), 2, 3).value == 0
    assert chance_of(binary(3), 3, 3).value == pytest.approx(8 * (1 / 8) ** 3)


def test_one_combination_is_always_enough() -> None:
    assert chance_of(product([uniform(1)] * 4), 7, 5).value == 1


def test_records_too_few_to_show_the_rare_value_are_safer() -> None:
    """The chance is not always higher with more records: a rare value may not occur at all."""
    cells = of_weights([9999, 1])
    assert chance_of(cells, 100, 5).value > 0.98
    assert chance_of(cells, 10_000, 5).value < 0.5
    assert chance_of(cells, 150_000, 5).value > 0.98


def test_large_numbers_neither_overflow_nor_vanish() -> None:
    assert chance_of(binary(3), 10**12, 5).value == pytest.approx(1)
    assert chance_of(binary(2), 4000, 900).value == pytest.approx(
        simulated_share([2, 2], 4000, 900), abs=0.05
    )
    many = product([of_weights(range(1, 60))] * 30)
    assert chance_of(many, 1000, 5).value < 1e-12


def simulated_share(domains: list[int], records: int, k: int) -> float:
    drawn = simulate([np.ones(each) for each in domains], records, k, times=2000)
    assert drawn is not None
    return drawn.share


def test_cells_of_equal_chance_are_kept_once() -> None:
    cells = binary(20)
    assert len(cells.chance) == 1
    assert cells.total == 2**20
    assert cells.exact


def test_thinned_cells_keep_their_number_and_sum_to_one() -> None:
    random = np.random.default_rng(0)
    parts = [of_weights(random.random(300)) for _ in range(3)]
    thin = product(parts, COARSE)
    assert not thin.exact
    assert len(thin.chance) <= COARSE
    assert thin.total == pytest.approx(300**3)
    assert float(np.dot(thin.chance, thin.number)) == pytest.approx(1)


def test_thinning_hardly_changes_the_chance() -> None:
    random = np.random.default_rng(1)
    parts = [of_weights(random.random(12) + 0.5) for _ in range(3)]
    whole, thin = product(parts, 10**6), product(parts, 300)
    assert whole.exact
    assert not thin.exact
    for records in (12_000, 25_000, 40_000):
        expected = chance_of(whole, records, 3).value
        assert chance_of(thin, records, 3).value == pytest.approx(expected, abs=0.002)


def test_leaving_out_each_is_the_product_of_the_others() -> None:
    parts = [of_weights([3, 1]), uniform(3), of_weights([5, 2, 1])]
    for out, cells in enumerate(leaving_out_each(parts)):
        others = product([part for at, part in enumerate(parts) if at != out])
        assert cells.chance == pytest.approx(others.chance)
        assert cells.number == pytest.approx(others.number)


def test_halved_joins_the_frequent_with_the_rare() -> None:
    assert halved(np.array([5.0, 1.0, 3.0, 2.0])).tolist() == [5.0, 6.0]
    assert halved(np.array([5.0, 1.0, 3.0])).tolist() == [3.0, 6.0]
    assert halved(np.array([2.0, 1.0])).tolist() == [3.0]
    assert halved(np.array([4.0])).tolist() == [4.0]


def test_expected_records_in_small_groups_are_those_of_the_simulation() -> None:
    random = np.random.default_rng(5)
    counts = random.multinomial(50, [1 / 8] * 8, size=20_000)
    mean = np.where(counts < 3, counts, 0).sum(axis=1).mean()
    assert expected_below(binary(3), 50, 3) == pytest.approx(mean, rel=0.15)


@pytest.mark.parametrize(("records", "target"), [(50, 0.95), (5000, 0.95), (50, 0.5)])
def test_records_needed_is_where_the_chance_crosses_the_target(records: int, target: float) -> None:
    needed = records_needed(binary(3), records, 3, target)
    assert needed is not None
    assert chance_of(binary(3), needed, 3).value >= target
    assert chance_of(binary(3), needed - 1, 3).value < target


def test_records_needed_is_none_where_nobody_has_them() -> None:
    assert records_needed(product([uniform(1000)] * 6), 100, 5, 0.95) is None


def test_result_of_three_binary_attributes() -> None:
    found = feasibility([2, 2, 2], 50, 3)
    assert found.probability == pytest.approx(0.702, abs=0.001)
    assert found.exact
    assert found.simulated == pytest.approx(found.probability, abs=2 * (found.standard_error or 0))
    assert found.simulations >= 1000
    assert found.records_needed == 69
    assert found.combinations == 8
    assert found.one_sentence() == (
        "50 records with these 3 attributes are 3-anonymous with a chance of 70 %, and about 1 of "
        "them are in groups of fewer than 3; 95 % need about 69 records; generalize or leave out "
        "'attribute 1' first: without it the chance is 99.97 %."
    )
    enough = feasibility([2, 2, 2], 300, 3, simulations=10)
    assert enough.one_sentence().endswith("a chance of 100 %; 95 % need about 69 records.")


def test_result_is_json() -> None:
    found = json.loads(json.dumps(feasibility([2, 3], 40, 3, simulations=50).as_dict()))
    assert {"probability", "simulated", "standard_error", "records_needed", "advice"} <= set(found)
    assert found["advice"][0]["attribute"] == "attribute 2"
    assert found["simulations"] == 50
    assert found["in_file"] is None


def test_same_seed_same_simulation() -> None:
    ask = [feasibility([3, 4], 90, 4, simulations=300, seed=seed).simulated for seed in (1, 1, 2)]
    assert ask[0] == ask[1]
    assert ask[0] != ask[2]


def test_no_simulation_on_request() -> None:
    found = feasibility([2, 2], 50, 3, simulations=0)
    assert (found.simulated, found.standard_error, found.simulations) == (None, None, 0)


def test_advice_names_the_attribute_that_costs_most() -> None:
    found = feasibility([2, 40, 3], 500, 5, names=["sex", "zip", "stage"], simulations=0)
    assert [each.attribute for each in found.advice] == ["zip", "stage", "sex"]
    first = found.advice[0]
    assert found.probability < first.halved < first.left_out
    assert first.left_out == pytest.approx(chance_of(product([uniform(6)]), 500, 5).value)


def test_advice_where_every_chance_is_nil_looks_at_the_small_groups() -> None:
    found = feasibility(
        distributions=[[1] * 30, [1] * 500, [1] * 40], records=3000, k=5, simulations=0
    )
    assert found.probability == 0
    assert [each.values for each in found.advice] == [500, 40, 30]
    assert found.advice[0].below_k < found.advice[1].below_k <= found.below_k


def file() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "sex": ["F", "M"] * 60,
            "stage": ["I"] * 70 + ["II"] * 48 + ["III"] * 2,
            "note": [str(number) for number in range(120)],
        }
    )


def test_file_has_its_own_distributions_and_its_own_answer() -> None:
    found = feasibility_of(file(), ["sex", "stage"], 3, simulations=0)
    same = feasibility(distributions=[[60, 60], [70, 48, 2]], records=120, k=3, simulations=0)
    assert found.probability == pytest.approx(same.probability)
    assert found.in_file is not None
    assert not found.in_file.k_anonymous
    assert found.in_file.smallest_group == 1
    assert (found.in_file.groups, found.in_file.groups_below_k) == (6, 2)
    assert found.in_file.records_below_k == 2
    assert found.advice[0].attribute == "stage"


def test_file_asked_about_more_records_than_it_has() -> None:
    here = feasibility_of(file(), ["sex", "stage"], 3, simulations=0)
    more = feasibility_of(file(), ["sex", "stage"], 3, 5000, simulations=0)
    assert more.records == 5000
    assert more.probability > here.probability
    assert more.in_file == here.in_file


def test_missing_cells_are_a_value() -> None:
    frame = pl.DataFrame({"a": ["x", None, "x", None, "y"]})
    found = feasibility_of(frame, ["a"], 2, simulations=0)
    assert found.attributes[0].values == 3


def test_file_on_disk_and_many_attributes(tmp_path: Path) -> None:
    datasets.load("death-certificates", rows=500).write_csv(tmp_path / "deaths.csv")
    few = feasibility_of(tmp_path / "deaths.csv", ["sex", "farm"], 5, simulations=5)
    assert few.in_file is not None
    assert few.in_file.records == 500
    columns = [column.name for column in datasets.describe("death-certificates").columns]
    every = feasibility_of(tmp_path / "deaths.csv", columns, 5, simulations=1)
    assert every.probability < 1e-12
    assert every.simulated == 0
    assert every.records_needed is None
    assert every.in_file is not None
    assert every.in_file.records_below_k == 500


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"domains": [2, 2], "records": 0, "k": 3}, "records: must be a whole number"),
        ({"domains": [2, 2], "records": 50, "k": 1}, "k: must be a whole number of at least 2"),
        ({"domains": [2, 0], "records": 50, "k": 3}, "domains: must be a whole number"),
        ({"domains": [], "records": 50, "k": 3}, "domains: must list"),
        ({"domains": [10**9], "records": 50, "k": 3}, "at most 1,000,000 values"),
        ({"records": 50, "k": 3}, "Give either domains"),
        ({"distributions": [[1, -1]], "records": 50, "k": 3}, "weights of at least 0"),
        ({"distributions": [["a"]], "records": 50, "k": 3}, "attribute 1 must be a list"),
        ({"domains": [2], "names": ["a", "b"], "records": 9, "k": 3}, "1 attributes, but 2 names"),
        ({"domains": [2], "records": 9, "k": 3, "target": 1.5}, "target: must be"),
        ({"domains": [2], "records": 9, "k": 3, "simulations": -1}, "simulations: must be"),
    ],
)
def test_bad_questions_are_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        feasibility(**arguments)  # type: ignore[arg-type]


def test_unknown_column_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(InputError, match="Did you mean 'stage'"):
        feasibility_of(file(), ["stages"], 3)


def test_percent_reads_well() -> None:
    shown = {
        0.0: "practically 0",
        1e-7: "below 0.01 %",
        0.0021: "0.21 %",
        0.702: "70 %",
        1.0: "100 %",
    }
    assert {chance: chance_in_words(chance) for chance in shown} == shown
    assert chance_in_words(0.9497) == "95.0 %"
    assert chance_in_words(1 - 1e-9) == "above 99.99 %"
