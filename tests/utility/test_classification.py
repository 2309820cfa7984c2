"""Evaluation for classification: errors that are known by hand."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from releases_by_hand import Entry, Made, MakeRelease

from incrowd.errors import InputError, ParameterError, SourceError
from incrowd.utility import classification, evaluate
from incrowd.utility._decision_tree import train_tree
from incrowd.utility.classification import split

ROWS = 90
AGE = [str(20 + number % 45) for number in range(ROWS)]
ILL = ["y" if int(age) >= 35 else "n" for age in AGE]  # 60 of the 90
ORIGINAL = pl.DataFrame({"age": AGE, "ward": ["1", "2", "3"] * 30, "ill": ILL})


def target(name: str = "ill") -> dict[str, Any]:
    return {"name": name, "role": "target", "published": True, "type": "category"}


def kept(name: str, role: str = "keep") -> dict[str, Any]:
    return {"name": name, "role": role, "published": True, "type": "category"}


@pytest.fixture
def release(make_release: MakeRelease, entry: Entry) -> Callable[..., Made]:
    """A release whose only informative attribute, the age, is generalized to given labels."""

    def build(ages: Sequence[str], **more: Any) -> Made:
        return make_release(
            {"age": ages, "ward": ORIGINAL["ward"].to_list(), "ill": ILL},
            [entry("age", "numeric", 45, decimals=0), kept("ward"), target()],
            **more,
        )

    return build


def test_ranges_that_part_the_classes_cost_nothing(release: Callable[..., Made]) -> None:
    ages = ["[35-65)" if ill == "y" else "[20-35)" for ill in ILL]
    found = classification(release(ages), ORIGINAL)
    assert (found.ce.mean, found.ce.deviation) == (0, 0)
    assert found.be is not None
    assert found.be.mean == pytest.approx(0, abs=0.05)
    assert found.cost == found.ce.mean - found.be.mean
    assert found.ue.mean == found.majority == pytest.approx(1 / 3)
    assert found.benefit == pytest.approx(1 / 3)
    assert (found.target, found.classes, found.records, found.original_records) == (
        "ill",
        2,
        90,
        90,
    )


def test_generalizing_the_only_informative_attribute_leaves_the_upper_bound(
    release: Callable[..., Made],
) -> None:
    found = classification(release(["*"] * ROWS), ORIGINAL)
    assert found.ce == found.ue
    assert found.benefit == 0
    assert found.be is not None
    assert found.be.mean < 0.05
    assert found.cost is not None
    assert found.cost > 0.25


@pytest.mark.parametrize("role", ["keep", "sensitive", "target"])
def test_a_column_that_equals_the_class_gives_no_error(
    make_release: MakeRelease, entry: Entry, role: str
) -> None:
    release = make_release(
        {"sex": ["*"] * ROWS, "code": ILL, "ill": ILL},
        [entry("sex", "category", 2), kept("code", role), target()],
    )
    found = classification(release, target="ill")
    assert found.ce.mean == found.ue.mean == 0
    assert found.be is None
    assert found.cost is None


def test_an_independent_class_is_guessed_as_the_most_frequent(
    make_release: MakeRelease, entry: Entry
) -> None:
    random = np.random.default_rng(3)
    release = make_release(
        {
            "age": random.integers(20, 90, 900).astype(str).tolist(),
            "ill": np.where(random.random(900) < 0.3, "y", "n").tolist(),
        },
        [entry("age", "numeric", 70, decimals=0), target()],
    )
    found = classification(release)
    assert found.majority == pytest.approx(0.3, abs=0.05)
    assert found.ce.mean == pytest.approx(found.majority, abs=0.03)
    assert found.ue.mean == pytest.approx(found.majority, abs=0.002)


def test_shares_of_sets_keep_local_recoding_useful(make_release: MakeRelease, entry: Entry) -> None:
    # {a|b} beside a and b: whoever may be b is ill.
    jobs = ["a", "{b|c}", "{b|d}"] * 40
    release = make_release(
        {"job": jobs, "ill": ["n", "y", "y"] * 40}, [entry("job", "category", 4), target()]
    )
    assert classification(release).ce.mean == 0


def test_the_same_seed_gives_the_same_and_another_one_other_splits(
    release: Callable[..., Made],
) -> None:
    blurred = [f"[{int(age) // 10 * 10}-{int(age) // 10 * 10 + 10})" for age in AGE]
    found = classification(release(blurred), ORIGINAL, seed=4)
    assert classification(release(blurred), ORIGINAL, seed=4) == found
    assert classification(release(blurred), ORIGINAL, seed=5).ce != found.ce
    assert found.ce.deviation > 0


def test_mean_and_deviation_are_those_of_the_splits(release: Callable[..., Made]) -> None:
    blurred = release([f"[{int(age) // 10 * 10}-{int(age) // 10 * 10 + 10})" for age in AGE])
    first = classification(blurred, repeats=1, seed=5).ce
    both = classification(blurred, repeats=2, seed=5).ce
    second = 2 * both.mean - first.mean
    assert first.deviation == 0
    assert first.mean != pytest.approx(second)
    assert both.deviation == pytest.approx(abs(first.mean - second) / 2**0.5)


def test_records_without_a_class_are_left_out_and_many_are_sampled(
    make_release: MakeRelease, entry: Entry
) -> None:
    release = make_release(
        {"sex": ["F", "M", "M"] * 30, "ill": ["n", "y", None] * 30},
        [entry("sex", "category", 2), target()],
    )
    found = classification(release)
    assert (found.records, found.classes, found.ce.mean) == (60, 2, 0)
    assert classification(release, sample=40).records == 40


def test_suppressed_records_are_part_of_the_baseline(
    make_release: MakeRelease, entry: Entry
) -> None:
    release = make_release(
        {"age": AGE[:45], "ill": ILL[:45]},
        [entry("age", "numeric", 45, decimals=0), target()],
        suppressed=45,
    )
    assert classification(release, ORIGINAL).original_records == 90


def test_each_class_is_split_two_to_one() -> None:
    classes = np.repeat([0, 1, 2], [60, 30, 3])
    train, test = split(classes, seed=0, repeat=0)
    assert sorted([*train, *test]) == list(range(93))
    assert np.bincount(classes[test]).tolist() == [20, 10, 1]
    assert sorted(split(classes, 0, 1)[1]) != sorted(test)


def test_pruning_cuts_noise_and_keeps_what_holds() -> None:
    random = np.random.default_rng(0)
    features = random.random((600, 4)).astype(np.float32)
    noise = (random.random(600) < 0.3).astype(np.int64)
    assert set(train_tree(features, noise).predict(features)) == {0}
    step = (features[:, 2] > 0.5).astype(np.int64) ^ (random.random(600) < 0.05)
    predicted = train_tree(features, step).predict(features)
    assert (predicted == (features[:, 2] > 0.5)).mean() > 0.98


def test_evaluation_includes_it_when_asked(release: Callable[..., Made]) -> None:
    made = release(["*"] * ROWS)
    assert evaluate(made).classification is None
    found = evaluate(made, ORIGINAL, classification=True)
    assert found.classification == classification(made, ORIGINAL)
    told = json.loads(json.dumps(found.as_dict()))["classification"]
    assert told["ce"] == told["ue"]
    assert (told["benefit"], told["repeats"]) == (0, 5)
    assert told["cost"] == found.classification.cost


def test_progress_counts_every_tree(release: Callable[..., Made]) -> None:
    told = []
    classification(release(AGE), repeats=2, progress=lambda *step: told.append(step))
    assert told == [("classifying", done, 4) for done in range(4)]


def test_a_release_without_a_class_is_refused(make_release: MakeRelease, entry: Entry) -> None:
    release = make_release(
        {"sex": ["F", "M"] * 9, "ill": ["n", "y"] * 9}, [entry("sex", "category", 2), kept("ill")]
    )
    with pytest.raises(InputError, match="role: target"):
        classification(release)
    assert classification(release, target="ill").target == "ill"


def test_several_classes_must_be_chosen_from(make_release: MakeRelease, entry: Entry) -> None:
    release = make_release(
        {"sex": ["F", "M"] * 9, "ill": ["n", "y"] * 9, "dead": ["n", "y"] * 9},
        [entry("sex", "category", 2), target(), target("dead")],
    )
    with pytest.raises(InputError, match=r"several targets: 'ill' and 'dead'.*--target"):
        classification(release)
    found = evaluate(release, classification=True, target="dead").classification
    assert found is not None
    assert found.target == "dead"


def test_a_class_that_cannot_be_predicted_is_refused(release: Callable[..., Made]) -> None:
    made = release(AGE)
    with pytest.raises(InputError, match=r"no 'il'\. Did you mean 'ill'\?"):
        classification(made, target="il")
    with pytest.raises(InputError, match="'age' is a quasi-identifier"):
        classification(made, target="age")


@pytest.mark.parametrize(
    ("classes", "told"),
    [
        (["Secret"] * 9, "only 1 class"),
        ([None] * 9, "only 0 class"),
        (["n"] * 7 + ["Secret"] * 2, "1 class.* fewer than 3 of the 9 records"),
    ],
)
def test_classes_that_cannot_be_split_are_refused(
    make_release: MakeRelease, entry: Entry, classes: list[str | None], told: str
) -> None:
    release = make_release(
        {"sex": ["F"] * 9, "ill": classes}, [entry("sex", "category", 2), target()]
    )
    with pytest.raises(InputError, match=told) as caught:
        classification(release)
    assert "Secret" not in str(caught.value)


def test_another_table_is_no_original(release: Callable[..., Made]) -> None:
    with pytest.raises(InputError, match="has 89 records, but the release accounts for 90"):
        classification(release(AGE), ORIGINAL.head(89))


@pytest.mark.parametrize("wrong", [{"repeats": 0}, {"sample": 0}, {"seed": -1}, {"seed": 2**32}])
def test_illegal_parameters_are_refused(
    release: Callable[..., Made], wrong: dict[str, Any]
) -> None:
    with pytest.raises(ParameterError, match=rf"^{next(iter(wrong))} must be a whole number"):
        classification(release(AGE), **wrong)


def test_without_scikit_learn_it_says_what_to_install(
    release: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(SourceError, match=r'pip install "incrowd\[evaluation\]"'):
        classification(release(AGE))
