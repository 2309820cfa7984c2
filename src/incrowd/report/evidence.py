"""What a report tells of a release beside its manifest: a function of the published files.

Invariant: nothing here looks at more of a record than what a published table shows of it: the
groups with their sizes, the labels of quasi-identifiers, and the counts of sensitive values in each
group. Two sources with the same published tables get the same evidence, whatever the values of
suppressed records are, and wherever the values of published ones lie within their labels. What
needs more is in _source_evidence.py, for who holds the source.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.manifests import Manifest, ManifestEntry
from incrowd.counts.placed import placed
from incrowd.report.crowds import Crowds, crowds_of_outcome
from incrowd.report.of_events import sensitive_events, told_of_events

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incrowd.attacks.categories import ValueCategories
    from incrowd.engines.preparation import Prepared
    from incrowd.methods.base import Outcome
    from incrowd.policy import Policy
    from incrowd.privacy import PrivacyModel
    from incrowd.published.granularity import Seen
    from incrowd.report._source_evidence import SourceEvidence
    from incrowd.table import Column, Table

_MOST_LABELS = 6


@dataclass(frozen=True)
class Shown:
    """What became of a quasi-identifier, in what its published cells show."""

    seen: Seen
    """What an analyst sees of it."""
    labels: int
    """How many different labels there are."""
    levels: str
    frequent: tuple[tuple[str, float], ...]
    """The most frequent labels with their shares of the records."""

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.seen.name


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

    def evidence(self, manifest: Manifest, seen: Sequence[Seen]) -> Evidence:
        """Count what the published tables show, beside what is `seen` of quasi-identifiers.

        Notes
        -----
        One pass over the distinct rows for each sensitive attribute, by the home of the records:
        a report has the same bytes wherever they live.
        """
        table, models = self.published.table, self.published.models
        sensitive = sensitive_attributes(table, models)
        kinds = categories_of(table, models)
        sizes = self.outcome.group_sizes
        groups = placed(table, self.outcome.group_of_record, len(sizes))
        after = crowds_of_outcome(groups, sizes, sensitive, kinds)
        of_rows = sensitive_events(self.published, models)
        told = told_of_events(self.published, of_rows, self.outcome.group_of_record, sizes)
        after = identity = replace(after, told={**after.told, **told})
        if self.policy.publish != "generalized":
            quasi = [column.name for column in table.of_role("quasi")]
            identity = Crowds(*groups.sizes(quasi), {})
        entries = entries_of(manifest)
        found = (self._shown(each, entries[each.name]) for each in seen)
        return Evidence(after, identity, tuple(found))

    def _shown(self, seen: Seen, entry: ManifestEntry) -> Shown:
        name = seen.name
        column = self._column(name)
        if self.policy.publish != "generalized":
            return Shown(seen, column.cardinality, "its values as they were", ())
        cells, sizes = self.outcome.shown(name)
        records = int(sizes.sum())
        held = np.bincount(cells.text_of_group, weights=sizes, minlength=len(cells.texts))
        used = np.flatnonzero(held)
        order = used[np.argsort(-held[used], kind="stable")][:_MOST_LABELS]
        levels = self._levels(name, str(entry["labels"]))
        if seen.hidden == 1:
            levels = "nothing"
        elif seen.unchanged == 1:
            levels = "its values as they were"
        return Shown(
            seen,
            len(used),
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
        many = "sets" if self._column(name).numbers is None else "ranges"
        return f"values and {many} of them"

    def _column(self, name: str) -> Column:
        """A published column, of patients or of their events."""
        table, histories = self.published.table, self.published.histories
        return table[name] if name in table or histories is None else histories[name]


def sensitive_attributes(table: Table, models: Sequence[PrivacyModel]) -> list[str]:
    """The attributes whose values are a secret: by their role, or since a promise says so."""
    protected = {name for model in models for name in model.sensitive_attributes}
    return [
        column.name
        for column in table.columns
        if column.role == "sensitive" or column.name in protected
    ]


def categories_of(table: Table, models: Sequence[PrivacyModel]) -> dict[str, ValueCategories]:
    """The categories of values that promises name, by attribute; of models bound to a table."""
    from incrowd.attacks.categories import listed_categories

    found = {}
    for model in models:
        for name in model.sensitive_attributes:
            if model.categories_of_values and name in table:
                found[name] = listed_categories(table[name], model.categories_of_values)
    return found


def entries_of(manifest: Manifest) -> dict[str, ManifestEntry]:
    """What a manifest says of each published attribute, by name."""
    return {str(each["name"]): each for each in manifest["attributes"] if each["published"]}
