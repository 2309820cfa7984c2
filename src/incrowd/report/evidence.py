"""What a report tells of a release beside its manifest: a function of the published files.

Invariant: nothing here looks at more of a record than what a published table shows of it: the
groups with their sizes, the labels of quasi-identifiers, and the counts of sensitive values in each
group. Two sources with the same published tables get the same evidence, whatever the values of
suppressed records are, and wherever the values of published ones lie within their labels. What
needs more is in source_evidence.py, for who holds the source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.hierarchies.labels import Plain, parse
from incrowd.report.crowds import Crowds, crowds_of_outcome, crowds_of_published

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incrowd.attacks.categories import Categories
    from incrowd.methods.base import Outcome
    from incrowd.policy import Policy
    from incrowd.preparation import Prepared
    from incrowd.privacy import PrivacyModel
    from incrowd.report.source_evidence import SourceEvidence
    from incrowd.table import Table

_MOST_LABELS = 6


@dataclass(frozen=True)
class Shown:
    """What became of a quasi-identifier, in what its published cells show."""

    name: str
    kept: float
    """Of the information: 1 - NCP, as the manifest states it."""
    labels: int
    """How many different labels there are."""
    exact: float
    """The share of the records that show a value as it is."""
    hidden: float
    """The share of the records that show nothing."""
    levels: str
    frequent: tuple[tuple[str, float], ...]
    """The most frequent labels with their shares of the records."""


@dataclass(frozen=True)
class Evidence:
    """All that was measured of a release; `source` where it was held against the records before."""

    after: Crowds
    """The groups of the release."""
    identity: Crowds
    """The published records by what the table of records shows of quasi-identifiers."""
    attributes: tuple[Shown, ...]
    source: SourceEvidence | None = None
    """Never part of a release."""


@dataclass(frozen=True)
class Measuring:
    """A release in the making, as far as its own report needs it: `published` are its records."""

    policy: Policy
    published: Prepared
    outcome: Outcome

    def evidence(self, manifest: Mapping[str, Any]) -> Evidence:
        """Count what the published tables show.

        Notes
        -----
        One pass over the distinct rows for each sensitive attribute, by the home of the records:
        a report has the same bytes wherever they live.
        """
        table, models = self.published.table, self.published.models
        sensitive = sensitive_attributes(table, models)
        kinds = categories_of(table, models)
        after = crowds_of_outcome(table, self.outcome, sensitive, kinds)
        quasi = [column.name for column in table.of_role("quasi")]
        generalized = self.policy.publish == "generalized"
        identity = after if generalized else crowds_of_published(table, self.outcome, quasi)
        return Evidence(after, identity, tuple(self._shown(name, manifest) for name in quasi))

    def _shown(self, name: str, manifest: Mapping[str, Any]) -> Shown:
        entry = entries_of(manifest)[name]
        kept = 1 - float(entry["ncp"])
        column = self.published.table[name]
        if self.policy.publish != "generalized":
            return Shown(name, kept, column.cardinality, 1.0, 0.0, "its values as they were", ())
        cells, sizes = self.outcome.labels[name], self.outcome.group_sizes
        records = int(sizes.sum())
        held = np.bincount(cells.text_of_group, weights=sizes, minlength=len(cells.texts))
        used = np.flatnonzero(held)
        order = used[np.argsort(-held[used], kind="stable")][:_MOST_LABELS]
        hidden = sum(float(held[at]) for at in used if cells.texts[at] == "*")
        values = frozenset(column.values)
        exact = sum(float(held[at]) for at in used if _is_value(cells.texts[at], values))
        levels = self._levels(name, str(entry["labels"]))
        if hidden == records:
            levels = "nothing"
        elif exact == records:
            levels = "its values as they were"
        return Shown(
            name,
            kept,
            len(used),
            exact / records,
            hidden / records,
            levels,
            tuple((cells.texts[at] or "(missing)", float(held[at] / records)) for at in order),
        )

    def _levels(self, name: str, labels: str) -> str:
        """What kind of labels there are; a hierarchy made from the data is not described."""
        hierarchy = self.published.hierarchies[name]
        if hierarchy.kind == "auto" and labels == "hierarchy":
            return "labels of a hierarchy made from the data"
        level = self.outcome.levels.get(name)
        if level is not None:
            return f"level {level} of {hierarchy.height}"
        if labels == "hierarchy" and hierarchy.kind != "flat":
            return f"labels of its hierarchy, levels 0 to {hierarchy.height}"
        many = "sets" if self.published.table[name].numbers is None else "ranges"
        return f"values and {many} of them"


def _is_value(text: str | None, values: frozenset[str]) -> bool:
    """Whether a label is a value as it was: one text, or a missing cell shown as such."""
    if text is None:
        return True
    parsed = parse(text)
    return isinstance(parsed, Plain) and parsed.text in values


def sensitive_attributes(table: Table, models: Sequence[PrivacyModel]) -> list[str]:
    """The attributes whose values are a secret: by their role, or since a promise says so."""
    protected = {name for model in models for name in model.sensitive_attributes}
    return [
        column.name
        for column in table.columns
        if column.role == "sensitive" or column.name in protected
    ]


def categories_of(table: Table, models: Sequence[PrivacyModel]) -> dict[str, Categories]:
    """The categories of values that promises name, by attribute; of models bound to a table."""
    from incrowd.attacks.categories import listed_categories

    found = {}
    for model in models:
        lists = getattr(model, "categories", None)
        name = getattr(model, "sensitive", None)
        if isinstance(lists, list) and isinstance(name, str) and name in table:
            found[name] = listed_categories(table[name], lists)
    return found


def entries_of(manifest: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """What a manifest says of each published attribute, by name."""
    return {str(each["name"]): each for each in manifest["attributes"] if each["published"]}
