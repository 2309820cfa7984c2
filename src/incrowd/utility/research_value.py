"""Research value of a release: what it keeps of what a researcher wants, rule by rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd._runtime.plain_fields import plain_fields
from incrowd.errors import InputError
from incrowd.labels import cell_weights
from incrowd.policy import Policy, as_policy
from incrowd.policy.interests import interests
from incrowd.policy.reach import source_of
from incrowd.research.reading import LabelReader
from incrowd.research.rules import Interest, Rule
from incrowd.research.value import broken_rules, label_ratio, rule_ratio, span_ratio
from incrowd.utility.published import Published, open_published

if TYPE_CHECKING:
    from incrowd.engines.preparation import Prepared
    from incrowd.hierarchies import Hierarchy
    from incrowd.published.opened import ReleaseLike
    from incrowd.sources import SourceLike
    from incrowd.table import Column


@dataclass(frozen=True)
class RuleFate:
    """What became of a data constraint rule."""

    rule: Rule
    kept: bool
    cost: float
    """The research value that a broken rule takes, 0 for one that is kept."""

    def as_dict(self) -> dict[str, Any]:
        """The rule for JSON."""
        return {
            "apart": [self.rule.first, self.rule.second],
            "importance": self.rule.importance,
            "kept": self.kept,
            "cost": self.cost,
        }


@dataclass(frozen=True)
class AttributeValue:
    """The research value of one attribute: weight x labels x rules."""

    name: str
    weight: float
    value: float
    labels: float
    """What labels keep of the values, from 0 to 1."""
    rules_kept: float
    """The importance of the rules that are kept over that of all, the base value in both."""
    rules: tuple[RuleFate, ...]

    def as_dict(self) -> dict[str, Any]:
        """The attribute for JSON."""
        return plain_fields(self, without=("name",))


@dataclass(frozen=True)
class ResearchValue:
    """The research value of a release, from 0 to 1, and of each of its attributes."""

    total: float
    attributes: tuple[AttributeValue, ...]
    suppressed: int

    def as_dict(self) -> dict[str, Any]:
        """The research value for JSON."""
        return {
            "total": self.total,
            "suppressed": self.suppressed,
            "per_attribute": {each.name: each.as_dict() for each in self.attributes},
        }

    def explain(self) -> list[str]:
        """Lines for a content expert: what was lost of each attribute, and by which rules.

        Attributes in the order of what they lost, the greatest first.
        """
        lines = [f"The release keeps a research value of {self.total:.4f}; the data has 1."]
        if self.suppressed:
            lines.append(f"It leaves out {self.suppressed:,} records, which this does not count.")
        for each in sorted(self.attributes, key=lambda a: (a.value - a.weight, a.name)):
            rules = f", rules keep {each.rules_kept:.1%}" if each.rules else ""
            lines.append(
                f"{each.name}: {each.value:.4f} of {each.weight:.4f}; labels keep "
                f"{each.labels:.1%}{rules}."
            )
            lines += [
                f"  {'kept' if fate.kept else 'BROKEN'}: {fate.rule} (importance "
                f"{fate.rule.importance:g})" + ("" if fate.kept else f", costs {fate.cost:.4f}")
                for fate in each.rules
            ]
        return lines


def research_value(
    release: ReleaseLike | str | Path | Published,
    policy: Policy | Mapping[str, Any] | str | Path,
    original: SourceLike = None,
) -> ResearchValue:
    """What a release keeps of what a researcher wants, for the table and per quasi-identifier.

    Parameters
    ----------
    release
        A release, or the folder of one.
    policy
        Weights and rules, and the hierarchies that say what labels stand for. It need not be the
        one that the release was made with, as long as attributes and hierarchies agree.
    original
        The table that the release was made from; None takes the `source:` of the policy.

    Notes
    -----
    An attribute has w x (records / sum over records of what their label spans) x (rules kept / all
    rules) if it is numeric, w x (labels / values) x the same if not; see
    `incrowd.research.attribute_value`. A rule is broken where a single label covers both of its
    values. The cost of a broken rule is what the value would gain if it alone were kept. Records
    that were suppressed are not counted. Cost: one pass to count the different cells of each
    column, and the coding of the original.

    References
    ----------
    Morton (2012), An improved utility driven approach towards k-anonymity using data constraint
    rules, "Utility Metric".

    Example
    -------
    >>> import incrowd, polars
    >>> frame = polars.DataFrame({"age": [63, 64, 65, 66], "sex": ["F", "F", "M", "M"]})
    >>> policy = {
    ...     "attributes": {
    ...         "age": {"role": "quasi", "rules": [{"apart": [64, 65], "importance": 25}]},
    ...         "sex": "quasi",
    ...     },
    ...     "privacy": [{"k-anonymity": {"k": 2}}],
    ... }
    >>> found = research_value(incrowd.anonymize(frame, policy), policy, frame)
    >>> found.total, found.attributes[0].rules[0].kept
    (0.75, True)
    """
    from incrowd.engines.preparation import prepare_source

    policy = as_policy(policy)
    published = open_published(release)
    prepared = prepare_source(source_of(policy, original), policy)
    wanted = interests(policy, prepared.table)
    other = [name for name in published.quasi if name not in wanted]
    if other:
        raise InputError(
            f"The policy does not name '{other[0]}' as a quasi-identifier, but the release does. "
            "Give the policy that the release was made with."
        )
    attributes = tuple(
        value_of_attribute(published.entries[name], published.cells(name), prepared, wanted[name])
        for name in wanted
        if name in published.quasi
    )
    total = float(sum(each.value for each in attributes))
    return ResearchValue(total, attributes, published.records["suppressed"])


def value_of_attribute(
    entry: Mapping[str, Any],
    cells: Mapping[str | None, int],
    prepared: Prepared,
    interest: Interest,
) -> AttributeValue:
    """The research value of a quasi-identifier: its entry in a manifest, and its different cells.

    `cells` has the number of records that show each, `prepared` the original.
    """
    column, hierarchy = prepared.table[interest.name], prepared.hierarchies[interest.name]
    sizes = np.array(list(cells.values()), dtype=np.int64)
    members = LabelReader(column, hierarchy, entry).members(list(cells))
    low, high = members.codes[members.offsets[:-1]], members.codes[members.offsets[1:] - 1]
    if column.numbers is not None:
        labels = span_ratio(cell_weights(list(cells), _as_coded(entry, column, hierarchy)), sizes)
        broken = broken_rules(interest, column, low, high)
    else:
        labels = label_ratio(column, low, high, sizes, members)
        broken = broken_rules(interest, column, low, high, members)
    kept = rule_ratio(interest, broken)
    one = interest.weight * labels / interest.importance if interest.rules else 0.0
    return AttributeValue(
        interest.name,
        interest.weight,
        interest.weight * labels * kept,
        labels,
        kept,
        tuple(
            RuleFate(rule, not gone, one * rule.importance if gone else 0.0)
            for rule, gone in zip(interest.rules, broken.tolist(), strict=True)
        ),
    )


def _as_coded(entry: Mapping[str, Any], column: Column, hierarchy: Hierarchy) -> dict[str, Any]:
    """The entry with the steps and the domain of the original, which a manifest does not tell."""
    found = {**entry, "decimals": column.decimals, "domain": hierarchy.total}
    if "weights" in entry:
        known = {
            label: int(weight)
            for labels, weights in zip(hierarchy.labels[1:], hierarchy.weights[1:], strict=True)
            for label, weight in zip(labels, weights, strict=True)
        }
        found["weights"] = {label: known[label] for label in entry["weights"] if label in known}
    return found
