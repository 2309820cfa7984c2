"""What a policy wants of each quasi-identifier, held against the table that it is about."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.policy._schema import Policy
from incrowd.research.rules import Interest, Rule
from incrowd.table import Table


def interests(policy: Policy, table: Table) -> dict[str, Interest]:
    """What a policy wants of each quasi-identifier of a table; weights sum to 1.

    Weights are those of the policy; an attribute without one weighs as much as the others do on
    average. With `weights: correlation` they follow from the table: the less an attribute can be
    told from the others, the more it weighs. Every rule is checked against the table.
    """
    columns = table.of_role("quasi")
    if policy.weights == "correlation":
        from incrowd.research.association import independent_weights

        weights = independent_weights(columns).tolist()
    else:
        weights = _given([policy.attributes[column.name].weight for column in columns])
    found = {}
    for column, weight in zip(columns, weights, strict=True):
        asked = policy.attributes[column.name].rules or []
        rules = tuple(Rule(each.apart[0], each.apart[1], each.importance) for each in asked)
        interest = Interest(column.name, weight, rules, policy.rule_base)
        interest.pairs(column)
        found[column.name] = interest
    return found


def _given(asked: Sequence[float | None]) -> list[float]:
    """The weights that a policy gives, normalized."""
    named = [weight for weight in asked if weight is not None]
    usual = sum(named) / len(named) if named else 1.0
    weights = [usual if weight is None else weight for weight in asked]
    total = sum(weights)
    return [weight / total for weight in weights]
