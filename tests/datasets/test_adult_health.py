"""Adult with a drawn health condition: its rows, its draw, its hierarchies and its policy."""

from __future__ import annotations

import csv
import hashlib
from pathlib import Path

import polars as pl
import pytest
import yaml

import incrowd
from incrowd import datasets
from incrowd.attacks import similarity
from incrowd.datasets._adult_health import CATEGORIES, CONDITION, QUASI
from incrowd.datasets.resources import read_text
from incrowd.errors import InputError

# Table 9 of Sun, Li, Wang (2010): the number of levels, the values themselves among them.
HEIGHTS = {
    "age": 5,
    "workclass": 3,
    "education": 4,
    "native-country": 3,
    "marital-status": 3,
    "race": 3,
    "sex": 2,
}


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return datasets.load("adult-health")


def hierarchy(column: str) -> list[list[str]]:
    return list(csv.reader(read_text(f"hierarchies/adult-health/{column}.csv").splitlines()))


def test_people_are_the_complete_rows_of_adult_in_their_order(people: pl.DataFrame) -> None:
    complete = datasets.load("adult").drop_nulls().select(QUASI)
    assert people.columns == [*QUASI, CONDITION]
    assert people.select(QUASI).equals(complete)
    assert people.null_count().row(0) == (0,) * 8


def test_attributes_have_the_numbers_of_values_of_the_paper(people: pl.DataFrame) -> None:
    found = {name: people[name].n_unique() for name in people.columns}
    # The paper counts 8 for work class; Never-worked is never in a complete row.
    assert found == {
        "age": 74,
        "workclass": 7,
        "education": 16,
        "native-country": 41,
        "marital-status": 7,
        "race": 5,
        "sex": 2,
        CONDITION: 8,
    }


def test_heights_are_those_of_the_paper() -> None:
    assert tuple(HEIGHTS) == QUASI
    assert {name: len(hierarchy(name)[0]) for name in QUASI} == HEIGHTS


def test_ages_lie_in_the_ranges_above_them() -> None:
    for age, *ranges, top in hierarchy("age"):
        assert top == "*"
        for label, width in zip(ranges, (5, 10, 20), strict=True):
            low, high = label.removeprefix("[").removesuffix(")").split("-")
            assert int(low) <= int(age) < int(high) == int(low) + width


def test_conditions_lie_under_their_categories() -> None:
    above = {value: label for value, label, _ in hierarchy(CONDITION)}
    assert above == {value: label for label, values in CATEGORIES.items() for value in values}
    assert [len(values) for values in CATEGORIES.values()] == [2, 2, 2, 2]


def test_every_condition_is_as_likely_whatever_the_rest(people: pl.DataFrame) -> None:
    shares = people[CONDITION].value_counts(normalize=True)
    assert sorted(shares[CONDITION]) == sorted(v for each in CATEGORIES.values() for v in each)
    # Four standard deviations of a share of 1/8 of 45,222 draws.
    assert all(abs(share - 1 / 8) < 0.0063 for share in shares["proportion"])
    chi_squared = 0.0
    counted = people.group_by("sex", CONDITION).len().rows()
    by_sex, by_condition = (dict(people[name].value_counts().rows()) for name in ("sex", CONDITION))
    for sex, condition, count in counted:
        expected = by_sex[sex] * by_condition[condition] / people.height
        chi_squared += (count - expected) ** 2 / expected
    assert chi_squared < 24.3  # 99.9 % of tables with 7 degrees of freedom


def test_the_draw_is_the_same_everywhere_and_another_for_another_seed(people: pl.DataFrame) -> None:
    digest = hashlib.sha256("\n".join(people[CONDITION]).encode()).hexdigest()
    assert digest == "181106bba031081ea14bc7da770123c9e1f40218b497ad9d9aa1fae6bc8b110d"
    few = datasets.load("adult-health", rows=500)
    assert few.equals(people.head(500))
    other = datasets.load("adult-health", rows=500, seed=1)
    assert other.select(QUASI).equals(few.select(QUASI))
    assert 350 < (other[CONDITION] != few[CONDITION]).sum() < 500


def test_more_rows_than_there_are_people_are_refused() -> None:
    assert datasets.load("adult-health", rows=45_222).height == 45_222
    with pytest.raises(InputError, match="'adult-health' has 45,222 rows, 45,223 were asked for"):
        datasets.load("adult-health", rows=45_223)


def with_privacy(folder: Path, model: dict[str, object], **more: object) -> Path:
    """The example policy with another promise, beside its hierarchies."""
    datasets.export_hierarchies("adult-health", folder)
    policy = {**yaml.safe_load(datasets.policy("adult-health")), "privacy": [model], **more}
    (folder / "policy.yaml").write_text(yaml.safe_dump(policy))
    return folder / "policy.yaml"


def test_two_diversity_is_open_to_the_similarity_attack_and_the_example_is_not(
    people: pl.DataFrame, tmp_path: Path
) -> None:
    example = yaml.safe_load(datasets.policy("adult-health"))["privacy"][0]
    by_level = {"file": str(tmp_path / "adult-health-hierarchies" / f"{CONDITION}.csv")}

    def exposed(model: dict[str, object]) -> tuple[int, ...]:
        release = incrowd.anonymize(people, with_privacy(tmp_path, model))
        assert release.manifest["records"]["published"] == 45_222
        return similarity(release, sensitive=CONDITION, hierarchy=by_level).by_category

    two = exposed({"l-diversity": {"l": 2, "sensitive": CONDITION}})
    assert all(count > 0 for count in two)
    # Four conditions are of two categories at least, for a category has two.
    assert exposed({"l-diversity": {"l": 4, "sensitive": CONDITION}}) == (0, 0, 0, 0)
    assert exposed(example) == (0, 0, 0, 0)
    entropy = {**example["l-alpha-diversity"], "l": 3, "kind": "entropy"}
    assert exposed({"l-alpha-diversity": entropy}) == (0, 0, 0, 0)


def test_the_example_brings_the_categories_of_the_attack(
    people: pl.DataFrame, tmp_path: Path
) -> None:
    datasets.export_hierarchies("adult-health", tmp_path)
    (tmp_path / "adult-health.yaml").write_text(datasets.policy("adult-health"))
    release = incrowd.anonymize(people.head(2000), tmp_path / "adult-health.yaml")
    found = similarity(release, sensitive=CONDITION)
    assert (found.categories_from, found.by_category) == ("manifest", (0, 0, 0, 0))
