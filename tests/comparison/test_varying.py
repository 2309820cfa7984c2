"""One policy over ranges: names, places of parameters, and what is refused before any work."""

from typing import Any

import pytest

from incrowd.comparison._parameter_ranges import MOST, variants
from incrowd.errors import ParameterError, PolicyError
from incrowd.policy import Policy

BASE: dict[str, Any] = {
    "attributes": {"age": "quasi", "sex": "quasi", "ill": "sensitive"},
    "privacy": [
        {"k-anonymity": {"k": 2}},
        {"alpha-k": {"alpha": 0.5, "k": 3}},
        {"l-diversity": {"l": 2}},
    ],
    "suppression": 0.1,
}


def made(over: dict[str, list[Any]], **changes: Any) -> list[Any]:
    return variants([("p", Policy.from_mapping({**BASE, **changes}))], over)


def test_nothing_varied_is_the_policy_itself() -> None:
    policy = Policy.from_mapping(BASE)
    (only,) = variants([("p", policy)], {})
    assert (only.name, only.of, only.varied) == ("p", "p", {})
    assert only.policy is policy


def test_all_combinations_in_order_each_with_a_telling_name() -> None:
    found = made({"l": [2, 3], "suppression": [0.0, 0.05]})
    assert [each.name for each in found] == [
        "p, l=2, suppression=0.0",
        "p, l=2, suppression=0.05",
        "p, l=3, suppression=0.0",
        "p, l=3, suppression=0.05",
    ]
    assert [each.policy.privacy[2].l for each in found] == [2, 2, 3, 3]
    assert [each.policy.suppression for each in found] == [0.0, 0.05, 0.0, 0.05]
    assert {each.of for each in found} == {"p"}
    assert found[1].varied == {"l": "2", "suppression": "0.05"}


def test_a_parameter_is_set_in_every_model_that_has_it_or_in_the_one_named() -> None:
    (both,) = made({"k": [7]})
    assert [model.k for model in both.policy.privacy[:2]] == [7, 7]
    (one,) = made({"alpha-k.k": [7]})
    assert [model.k for model in one.policy.privacy[:2]] == [2, 7]
    assert one.name == "p, alpha-k.k=7"


def test_the_method_its_options_and_the_way_to_publish_vary_too() -> None:
    found = made({"method": ["mondrian", "incognito"], "publish": ["anatomy"]})
    assert [each.policy.method.name for each in found] == ["mondrian", "incognito"]
    assert {each.policy.publish for each in found} == {"anatomy"}
    for name in ("split", "method.split", "mondrian.split"):
        (each,) = made({name: ["median"]}, method={"name": "mondrian", "labels": "hierarchy"})
        assert (each.policy.method.split, each.policy.method.labels) == ("median", "hierarchy")


def test_all_else_stays_as_it_was() -> None:
    (each,) = made({"alpha": [0.25]}, missing="drop", attributes={
        "age": {"role": "quasi", "hierarchy": {"mask": {"length": 3}}},
        "ill": {"role": "sensitive", "type": "ordered", "order": ["1", "no", "2e1"]},
    })  # fmt: skip
    assert each.policy.privacy[1].alpha == 0.25
    assert each.policy.attributes["ill"].order == ["1", "no", "2e1"]
    assert each.policy.attributes["age"].hierarchy.mask.length == 3
    assert (each.policy.missing, each.policy.suppression) == ("drop", 0.1)


@pytest.mark.parametrize(
    ("over", "problem"),
    [
        (
            {"K": [2]},
            "p has no parameter 'K' to vary. Did you mean 'k'? It has: k, ",
        ),
        ({"values": ["a"]}, "no parameter 'values'"),
        ({"t-closeness.t": [0.2]}, "no parameter 't-closeness.t'"),
        ({"incognito.metric": ["loss"]}, "no parameter 'incognito.metric'"),
        ({"k": []}, "give k a list of values"),
        ({"k": "25"}, "give k a list of values"),
        ({"k": [[2, 3]]}, "must be numbers, texts"),
        ({"k": [2, 5, 2]}, "k has the value 2 twice"),
        ({"k": range(2, 2 + MOST + 1)}, "These are 101 policies; at most 100"),
    ],
)
def test_ranges_that_make_no_sense_are_refused(over: dict[str, Any], problem: str) -> None:
    with pytest.raises(ParameterError, match=problem.replace("?", r"\?").replace("(", r"\(")):
        made(over)


@pytest.mark.parametrize(
    ("over", "problem"),
    [
        ({"k": [5, 1]}, r"p, k=1: privacy.*k must be a whole number of at least 2, got 1"),
        ({"suppression": [2]}, r"p, suppression=2: suppression must be a number below 1"),
        ({"method": ["mondriaan"]}, r"p, method=mondriaan: .*Did you mean 'mondrian'"),
    ],
)
def test_a_value_that_is_not_allowed_is_told_with_its_variant(
    over: dict[str, Any], problem: str
) -> None:
    with pytest.raises(PolicyError, match=problem):
        made(over)


def test_a_parameter_that_another_one_sets_as_well_is_refused() -> None:
    with pytest.raises(ParameterError, match="over: k is set by another parameter as well"):
        made({"k": [2, 5], "k-anonymity.k": [3], "alpha-k.k": [4]})
