"""One policy over ranges of its parameters: a policy of its own for every combination."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from incrowd._runtime.plain_yaml import as_text
from incrowd.errors import ParameterError, nearest
from incrowd.policy import Policy
from incrowd.policy.writing import policy_mapping
from incrowd.privacy import PrivacyModel
from incrowd.privacy.parameters import is_structured

MOST = 100
"""So many policies are compared at once, and no more: each is a release, written and judged."""
KEYS = ("suppression", "method", "publish", "goal", "missing", "rule-base")
"""What may vary of the policy itself, beside its promises and the options of its method."""

_Set = Callable[[dict[str, Any], Any], None]


@dataclass(frozen=True)
class Variant:
    """A policy with a name; `varied` has the parameters that set it apart, as they are written."""

    name: str
    policy: Policy
    of: str
    """The name of the policy that it is a variant of; its own where nothing varies."""
    varied: Mapping[str, str] = field(default_factory=dict)


def variants(
    policies: Sequence[tuple[str, Policy]], over: Mapping[str, Sequence[Any]]
) -> list[Variant]:
    """Each policy with every combination of the values in `over`, the last varying fastest.

    Parameters
    ----------
    policies
        Policies with their names.
    over
        For each parameter its values. A parameter of a promised model (`k`) is set in all promised
        models that have it, `alpha-k.k` in one; then come keys of the policy (`suppression`,
        `method`, `publish`), and options of its method (`split`, or `mondrian.split`).

    Raises
    ------
    ParameterError
        A policy has no such parameter, a value stands twice, or there are more than 100 policies.
    PolicyError
        A value is not allowed.

    Example
    -------
    >>> from incrowd import Policy
    >>> policy = {"attributes": {"age": "quasi"}, "privacy": [{"k-anonymity": {"k": 2}}]}
    >>> [each.name for each in variants([("p", Policy.from_mapping(policy))], {"k": [5, 10]})]
    ['p, k=5', 'p, k=10']
    """
    written = {name: _written(name, values) for name, values in over.items()}
    number = len(policies) * prod(len(values) for values in written.values())
    if number > MOST:
        raise ParameterError(
            f"These are {number:,} policies; at most {MOST} are compared at once. Give fewer "
            "values, or vary one parameter at a time."
        )
    return [each for name, policy in policies for each in _of_one(name, policy, over, written)]


def _of_one(
    name: str,
    policy: Policy,
    over: Mapping[str, Sequence[Any]],
    written: Mapping[str, Sequence[str]],
) -> Iterator[Variant]:
    if not over:
        yield Variant(name, policy, name)
        return
    mapping = policy_mapping(policy)
    setters = [_setter(name, policy, parameter) for parameter in over]
    _refuse_overwritten(list(over), setters, mapping)
    for texts, values in zip(product(*written.values()), product(*over.values()), strict=True):
        varied = dict(zip(over, texts, strict=True))
        changed = copy.deepcopy(mapping)
        for put, value in zip(setters, values, strict=True):
            put(changed, value)
        called = ", ".join([name, *(f"{each}={text}" for each, text in varied.items())])
        made = type(policy).from_mapping(changed, where=called, base=policy.base)
        yield Variant(called, made, name, varied)


def _refuse_overwritten(
    parameters: Sequence[str], setters: Sequence[_Set], mapping: Mapping[str, Any]
) -> None:
    """Refuse a parameter of which nothing is left once the others are set."""
    changed = copy.deepcopy(dict(mapping))
    marks = [f"\0{at}\0" for at in range(len(setters))]
    for put, mark in zip(setters, marks, strict=True):
        put(changed, mark)
    left = set(_leaves(changed))
    for parameter, mark in zip(parameters, marks, strict=True):
        if mark not in left:
            raise ParameterError(
                f"over: {parameter} is set by another parameter as well. Vary one of them."
            )


def _leaves(content: Any) -> Iterator[Any]:
    if isinstance(content, Mapping):
        content = list(content.values())
    if isinstance(content, list | tuple):
        for each in content:
            yield from _leaves(each)
    elif isinstance(content, str):
        yield content


def _written(name: str, values: Sequence[Any]) -> list[str]:
    """The values as texts; refuses what is no plain value, nothing, and the same twice."""
    if isinstance(values, str) or not values:
        raise ParameterError(f"over: give {name} a list of values, as in {name}=2,5,10.")
    if not all(isinstance(value, str | int | float) for value in values):
        raise ParameterError(f"over: the values of {name} must be numbers, texts, true or false.")
    texts = [str(as_text(value)) for value in values]
    twice = next((text for at, text in enumerate(texts) if text in texts[:at]), None)
    if twice is not None:
        raise ParameterError(f"over: {name} has the value {twice} twice.")
    return texts


def _setter(name: str, policy: Policy, parameter: str) -> _Set:
    """What puts a value in its place in the mapping of a policy."""
    owner, _, short = parameter.rpartition(".")
    holding = [
        (number, model)
        for number, model in enumerate(policy.privacy)
        if owner in ("", model.name) and short in _parameters(model)
    ]
    if holding:
        places = [(number, model.name) for number, model in holding]
        return lambda mapping, value: _put_in_models(mapping, places, short, value)
    if not owner and short in KEYS:
        return lambda mapping, value: mapping.__setitem__(short, value)
    method = policy.method.name
    if owner in ("", "method", method) and short in type(policy.method).model_fields:
        return lambda mapping, value: _put_in_method(mapping, method, short, value)
    legal = _legal(policy)
    raise ParameterError(
        f"{name} has no parameter '{parameter}' to vary.{nearest(parameter, legal)} "
        f"It has: {', '.join(legal)}."
    )


def _put_in_models(
    mapping: dict[str, Any], places: Sequence[tuple[int, str]], short: str, value: Any
) -> None:
    for number, model in places:
        mapping["privacy"][number][model][short] = value


def _put_in_method(mapping: dict[str, Any], name: str, short: str, value: Any) -> None:
    given = mapping["method"]
    options = dict(given) if isinstance(given, Mapping) else {"name": name}
    mapping["method"] = {**options, short: value}


def _parameters(model: PrivacyModel) -> list[str]:
    """The parameters of a model that are no lists, as a policy writes them."""
    return [
        name
        for name, field in type(model).parameters().items()
        if name == "sensitive" or not is_structured(field.annotation)
    ]


def _legal(policy: Policy) -> list[str]:
    of_models = [name for model in policy.privacy for name in _parameters(model)]
    return list(dict.fromkeys([*of_models, *KEYS, *type(policy.method).model_fields]))
