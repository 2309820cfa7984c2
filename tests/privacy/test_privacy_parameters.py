"""Illegal parameters are refused with what is legal; legal ones at the bounds are taken."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

import pytest
from pydantic import Field, create_model

from incrowd.errors import ParameterError, PrivacyError
from incrowd.privacy import (
    LKC,
    MODELS,
    AlphaK,
    BetaLikeness,
    Categories,
    Coherence,
    ConfidenceBounding,
    DeltaDisclosure,
    ExponentialL,
    KAnonymity,
    KKm,
    KmAnonymity,
    LAlphaDiversity,
    LDiversity,
    Limits,
    Means,
    MultiSensitive,
    PrivacyModel,
    PSensitive,
    Sensitive,
    TCloseness,
    Values,
)

LEGAL: dict[type[PrivacyModel], dict[str, Any]] = {
    KAnonymity: {"k": 2},
    LDiversity: {"l": 2, "sensitive": "ill"},
    TCloseness: {"t": 0.2, "sensitive": "ill"},
    PSensitive: {"p": 2, "k": 2, "sensitive": "ill"},
    AlphaK: {"alpha": 0.5, "k": 2, "sensitive": "ill"},
    ConfidenceBounding: {"C": 0.5, "sensitive": "ill"},
    LKC: {"L": 2, "K": 2},
    MultiSensitive: {"k": 2, "l": 2, "sensitive": ["ill", "drug"]},
    ExponentialL: {"l": 2, "sensitive": ["ill", "drug"]},
    LAlphaDiversity: {
        "l": 2,
        "alpha": 1.5,
        "sensitive": "ill",
        "categories": [["hiv", "cancer"], ["flu"]],
    },
    DeltaDisclosure: {"delta": 0.5, "sensitive": "ill"},
    BetaLikeness: {"beta": 2, "sensitive": "ill"},
    KmAnonymity: {"k": 2, "m": 2},
    Coherence: {"h": 0.5, "k": 2, "p": 2, "sensitive": "ill"},
    KKm: {"k": 2, "m": 2},
}


def refusal(model: type[PrivacyModel], **changed: Any) -> str:
    with pytest.raises(ParameterError) as caught:
        model(**{**LEGAL[model], **changed})
    return str(caught.value)


def test_every_model_is_covered_here() -> None:
    assert set(LEGAL) == set(MODELS.values())


@pytest.mark.parametrize("model", LEGAL)
def test_every_model_takes_its_legal_parameters_and_refuses_others(
    model: type[PrivacyModel],
) -> None:
    assert model(**LEGAL[model]).name == model.name
    assert "unknown key 'kind_of'" in refusal(model, kind_of=1)
    for name in LEGAL[model]:
        left = {key: value for key, value in LEGAL[model].items() if key != name}
        with pytest.raises(ParameterError, match=f"{model.name}: '{name}' is missing"):
            model(**left)


@pytest.mark.parametrize(
    ("model", "name"),
    [(m, "k") for m in (KAnonymity, PSensitive, AlphaK, KmAnonymity, Coherence, KKm)],
)
@pytest.mark.parametrize("value", [1, 0, -5])
def test_k_is_at_least_two(model: type[PrivacyModel], name: str, value: int) -> None:
    expected = f"{model.name}: {name} must be a whole number of at least 2, got {value}."
    assert refusal(model, **{name: value}) == expected


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        (KAnonymity, "k", 2.5),
        (KAnonymity, "k", "5"),
        (KAnonymity, "k", True),
        (KAnonymity, "k", None),
        (PSensitive, "p", 1.5),
        (AlphaK, "k", 2.0001),
    ],
)
def test_whole_numbers_are_demanded(model: type[PrivacyModel], name: str, value: object) -> None:
    assert refusal(model, **{name: value}).startswith(
        f"{model.name}: {name} must be a whole number, got "
    )


@pytest.mark.parametrize(
    ("model", "name"), [(TCloseness, "t"), (AlphaK, "alpha"), (ConfidenceBounding, "C")]
)
def test_shares_are_above_zero_and_at_most_one(model: type[PrivacyModel], name: str) -> None:
    for value in (0, 0.0, -0.5):
        told = refusal(model, **{name: value})
        assert told.startswith(f"{model.name}: {name} must be a number above 0")
        assert f"got {value}" in told
    for value in (1.0001, 5, math.inf, math.nan):
        told = refusal(model, **{name: value})
        assert told.startswith(f"{model.name}: {name} must be a number")
        assert "at most 1" in told
        assert f"got {value}" in told
    assert f"{name} must be a number" in refusal(model, **{name: "0.2"})
    assert getattr(model(**{**LEGAL[model], name: 1}), name) == 1


def test_p_is_at_least_one() -> None:
    expected = "p-sensitive: p must be a whole number of at least 1, got 0."
    assert refusal(PSensitive, p=0) == expected
    assert PSensitive(p=1, k=2, sensitive="ill").p == 1


@pytest.mark.parametrize("kind", ["distinct", "entropy", "frequency"])
@pytest.mark.parametrize("value", [0, 0.5, -1, math.nan])
def test_l_is_at_least_one(kind: str, value: float) -> None:
    told = refusal(LDiversity, l=value, kind=kind)
    assert told.startswith("l-diversity: l must be a")
    assert f"at least 1, got {value}" in told


@pytest.mark.parametrize("kind", ["distinct", "entropy", "recursive", "frequency"])
def test_an_infinite_l_is_refused(kind: str) -> None:
    c = 1.0 if kind == "recursive" else None
    assert refusal(LDiversity, l=math.inf, kind=kind, c=c).startswith("l-diversity: l must be")


def test_an_infinite_c_is_refused() -> None:
    """JSON has no infinity, so a manifest could not state it."""
    told = refusal(LDiversity, kind="recursive", c=math.inf)
    assert told.startswith("l-diversity: c must be")


def test_a_text_for_l_is_refused_in_the_words_of_the_policy() -> None:
    told = refusal(LDiversity, l="3")
    assert told == "l-diversity: l must be a number, got '3'."


@pytest.mark.parametrize("kind", ["distinct", "recursive"])
def test_a_fraction_of_a_value_is_refused_where_values_are_counted(kind: str) -> None:
    c = 2.0 if kind == "recursive" else None
    told = refusal(LDiversity, l=2.5, kind=kind, c=c)
    assert f"l must be a whole number for the {kind} kind" in told


@pytest.mark.parametrize("kind", ["entropy", "frequency"])
def test_a_fraction_is_legal_where_values_are_weighed(
    kind: Literal["entropy", "frequency"],
) -> None:
    model = LDiversity(l=2.5, kind=kind, sensitive="ill")
    assert model.l == 2.5
    assert model.smallest_group == 3


def test_c_belongs_to_the_recursive_kind() -> None:
    assert "the recursive kind needs c" in refusal(LDiversity, kind="recursive")
    assert "c belongs to the recursive kind" in refusal(LDiversity, c=3.0)
    for value in (0, -1.0, math.nan):
        told = refusal(LDiversity, kind="recursive", c=value)
        assert told.startswith("l-diversity: c must be a number above 0")
    assert LDiversity(l=2, kind="recursive", c=0.01, sensitive="ill").c == 0.01


def test_names_are_one_of_the_listed_with_the_nearest() -> None:
    told = refusal(LDiversity, kind="entropie")
    assert "kind must be one of distinct, entropy, recursive, frequency" in told
    assert "Did you mean 'entropy'?" in told
    assert "distance must be one of equal, ordered, hierarchical" in refusal(
        TCloseness, distance="order"
    )


@pytest.mark.parametrize("model", [AlphaK, ConfidenceBounding])
def test_listed_values_are_a_list_that_is_not_empty(model: type[PrivacyModel]) -> None:
    empty = refusal(model, values=[])
    assert "values must be a list" in empty
    assert "at least 1" in empty
    assert "values must be a list, got 'hiv'." in refusal(model, values="hiv")


@pytest.mark.parametrize(
    ("model", "smallest"),
    [
        (KAnonymity(k=7), 7),
        (LDiversity(l=3, sensitive="ill"), 3),
        (LDiversity(l=3, kind="recursive", c=2, sensitive="ill"), 3),
        (TCloseness(t=0.1, sensitive="ill"), 1),
        (PSensitive(p=5, k=3, sensitive="ill"), 5),
        (PSensitive(p=2, k=3, sensitive="ill"), 3),
        (AlphaK(alpha=0.5, k=4, sensitive="ill"), 4),
        (ConfidenceBounding(C=0.5, sensitive="ill"), 1),
        (LAlphaDiversity(l=3, alpha=2, sensitive="ill", categories=[["a"], ["b"]]), 3),
        (LAlphaDiversity(l=3, alpha=5.2, sensitive="ill", categories=[["a"], ["b"]]), 6),
        (DeltaDisclosure(delta=0.5, sensitive="ill"), 1),
        (BetaLikeness(beta=0.5, sensitive="ill"), 1),
    ],
)
def test_no_smaller_group_can_hold(model: PrivacyModel, smallest: int) -> None:
    assert model.smallest_group == smallest


@pytest.mark.parametrize(("model", "name"), [(DeltaDisclosure, "delta"), (BetaLikeness, "beta")])
def test_bounds_on_gains_are_finite_and_above_zero(model: type[PrivacyModel], name: str) -> None:
    for value in (0, -0.5):
        expected = f"{model.name}: {name} must be a number above 0, got {value}."
        assert refusal(model, **{name: value}) == expected
    for value in (math.inf, math.nan):
        expected = f"{model.name}: {name} must be a finite number, got {value}."
        assert refusal(model, **{name: value}) == expected
    assert f"{name} must be a number" in refusal(model, **{name: "1"})


def test_the_kinds_of_likeness() -> None:
    told = refusal(BetaLikeness, kind="enhance")
    assert told.startswith("beta-likeness: kind must be one of basic, enhanced, got 'enhance'.")
    assert BetaLikeness(beta=1, sensitive="ill").kind == "basic"


def test_a_model_cannot_be_changed() -> None:
    model = KAnonymity(k=5)
    with pytest.raises(ValueError, match="frozen"):
        model.k = 2


class Asking(KAnonymity):
    """A model with parameters of every kind that holds no text of its own choosing."""

    name: ClassVar[str] = "asking"

    spared: Values = Field(default_factory=list)
    together: Categories | None = None
    limits_of: Limits = Field(default_factory=dict)
    widths: list[int] = Field(default_factory=list)
    kind: Literal["one", "other"] = "one"
    strictly: bool = False


def test_types_say_what_parameters_hold() -> None:
    held = {name: means for name, means in Asking.means().items() if means is not None}
    assert held == {
        "spared": Means.VALUES,
        "together": Means.CATEGORIES,
        "limits_of": Means.LIMITS,
    }
    assert LAlphaDiversity.means()["categories"] is Means.CATEGORIES
    assert all(model.means()["values"] is Means.VALUES for model in (LKC, AlphaK))


@pytest.mark.parametrize("annotation", [str, list[str], dict[str, int], str | None, list, Any])
def test_parameters_that_may_hold_texts_say_what_they_are(annotation: Any) -> None:
    with pytest.raises(TypeError, match=r"the texts of codes would be published .* as in Values"):
        create_model("Telling", __base__=KAnonymity, codes=(annotation, ...))


def test_listed_values_are_published_only_where_a_record_has_them() -> None:
    model = Asking(k=2, spared=["HIV", "Flu"], together=[["HIV"], ["Flu"]], widths=[5])
    told = model.model_copy(update={"spared": [], "together": None}).promise_about({})
    assert told["parameters"] == {**told_of(model), "spared": [], "together": None}
    with pytest.raises(PrivacyError, match="every record with one of the values listed"):
        model.promise_about({"ill": {"HIV"}})  # it names no column that they are of
    bound = AskingOf(k=2, sensitive="ill", spared=["hiv", "Flu"], together=[["HIV"], ["Flu"]])
    told = bound.promise_about({"ill": {"HIV", "Cold"}, "drug": {"Flu"}})
    assert told["parameters"] == {**told_of(bound), "spared": ["HIV"], "together": [["HIV"], []]}


class AskingOf(Asking):
    """The same about a column."""

    name: ClassVar[str] = "asking-of"

    sensitive: Sensitive


def told_of(model: PrivacyModel) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True)
