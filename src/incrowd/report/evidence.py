"""What a report tells of a release beside its manifest: everything that is counted for it.

All of it is counted by the home of the records: a report has the same bytes wherever they live.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.report.crowds import (
    Crowds,
    crowds_of_outcome,
    crowds_of_published,
    crowds_of_table,
    rows_alike,
)
from incrowd.report.distributions import Distribution, distribution
from incrowd.report.looking_up import LookedUp, known_people, look_up
from incrowd.report.records import Complete, records_of
from incrowd.report.rounding import LEAST, TOLD_FROM, Before

if TYPE_CHECKING:
    from incrowd.attacks.categories import Categories
    from incrowd.methods.base import Outcome, Progress
    from incrowd.policy import Policy
    from incrowd.preparation import Prepared
    from incrowd.publish.release import ReleaseLike
    from incrowd.research.rules import Interest
    from incrowd.table import Table
    from incrowd.utility import Classification, QueryError, ResearchValue

MOST_RECORDS = 100_000
"""Counts are asked, and trees grown, of no more records than this."""
_QUERIES = 500
_MOST_LABELS = 6


@dataclass(frozen=True)
class Shown:
    """What became of a quasi-identifier, in what its published cells show."""

    name: str
    kept: float
    """Of the information: 1 - NCP."""
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
    """All that was measured; None where it does not apply or is not known."""

    before: Before | None
    """All records of the source, as they were, in round numbers."""
    after: Crowds
    """The groups of the release."""
    identity: Crowds
    """The published records by what the table of records shows of quasi-identifiers."""
    looked_up: LookedUp | None
    attributes: tuple[Shown, ...]
    distributions: tuple[Distribution, ...]
    query_error: QueryError | None = None
    classification: Classification | None = None
    research: ResearchValue | None = None
    trees: str | None = None
    """Why no trees were grown although the goal is classification."""
    few: bool = False
    """Whether the source has too few records to tell of sensitive values in it."""


@dataclass(frozen=True)
class Measuring:
    """A release in the making, as far as a report needs it.

    `source` has all records, `published` those that the release shows; without `source` nothing is
    known of the records before: other hospitals keep them.
    """

    policy: Policy
    source: Prepared | None
    published: Prepared
    outcome: Outcome
    interests: Mapping[str, Interest] = field(default_factory=dict)

    def evidence(self, release: ReleaseLike, progress: Progress) -> Evidence:
        """Count and measure.

        Notes
        -----
        One or two passes over the distinct rows for each sensitive attribute, and one for the
        patients that are looked up. Counts and trees only of up to 100,000 records.
        """
        progress("measuring", 0, 1)
        table = self.published.table
        sensitive = self._sensitive(table)
        after = crowds_of_outcome(table, self.outcome, sensitive, self._categories(table))
        quasi = [column.name for column in table.of_role("quasi")]
        generalized = self.policy.publish == "generalized"
        before = looked_up = error = trees = None
        few = self.source is not None and self.source.table.records < TOLD_FROM
        if self.source is not None:
            source = self.source.table
            alike = rows_alike(source, quasi)
            exact = crowds_of_table(source, quasi, sensitive, self._categories(source), alike)
            before = Before(exact, compared=self.outcome.suppressed > 0)
            if generalized:
                known = known_people(source, quasi, exact.count, alike)
                columns = [source[name] for name in quasi]
                entries = _entries(release.manifest)
                looked_up = look_up(known, columns, self.published, entries, self.outcome)
            if TOLD_FROM <= source.records <= MOST_RECORDS:
                error = self._query_error(release, source, quasi)
        identity = after if generalized else crowds_of_published(table, self.outcome, quasi)
        classes, trees = self._classification(release)
        return Evidence(
            before,
            after,
            identity,
            looked_up,
            tuple(self._shown(name, release.manifest) for name in quasi),
            tuple(self._distributions(quasi, release.manifest)),
            error,
            classes,
            self._research(release.manifest, quasi),
            trees,
            few,
        )

    def _sensitive(self, table: Table) -> list[str]:
        """The attributes whose values are a secret: by their role, or since a promise says so."""
        protected = {name for model in self.policy.privacy for name in model.sensitive_attributes}
        return [
            column.name
            for column in table.columns
            if column.role == "sensitive" or column.name in protected
        ]

    @property
    def least(self) -> int:
        """The least records of a bar: no fewer than any crowd that is promised."""
        models = self.published.models
        promised = [getattr(model, name, 0) for model in models for name in ("k", "K")]
        return max(LEAST, *promised)

    def _categories(self, table: Table) -> dict[str, Categories]:
        from incrowd.attacks.categories import listed_categories

        found = {}
        for model in self.policy.privacy:
            lists = getattr(model, "categories", None)
            name = getattr(model, "sensitive", None)
            if lists is not None and isinstance(name, str) and name in table:
                found[name] = listed_categories(table[name], lists)
        return found

    def _shown(self, name: str, manifest: Mapping[str, Any]) -> Shown:
        entry = _entries(manifest)[name]
        kept = 1 - float(entry["ncp"])
        if self.policy.publish != "generalized":
            column = self.published.table[name]
            return Shown(name, kept, column.cardinality, 1.0, 0.0, "its values as they were", ())
        cells, sizes = self.outcome.labels[name], self.outcome.group_sizes
        records = int(sizes.sum())
        held = np.bincount(cells.text_of_group, weights=sizes, minlength=len(cells.texts))
        used = np.flatnonzero(held)
        order = used[np.argsort(-held[used], kind="stable")][:_MOST_LABELS]
        hidden = sum(float(held[at]) for at in used if cells.texts[at] == "*")
        exact = float(sizes[cells.loss_of_group == 0].sum() / records)
        levels = self._levels(name, str(entry["labels"]))
        if hidden == records:
            levels = "nothing"
        elif exact == 1:
            levels = "its values as they were"
        return Shown(
            name,
            kept,
            len(used),
            exact,
            hidden / records,
            levels,
            tuple((cells.texts[at] or "(missing)", float(held[at] / records)) for at in order),
        )

    def _levels(self, name: str, labels: str) -> str:
        hierarchy = self.published.hierarchies[name]
        level = self.outcome.levels.get(name)
        if level is not None and not (self.outcome.suppressed and hierarchy.kind == "auto"):
            return f"level {level} of {hierarchy.height}"
        if labels == "hierarchy" and hierarchy.kind != "flat":
            return f"labels of its hierarchy, levels 0 to {hierarchy.height}"
        many = "sets" if self.published.table[name].numbers is None else "ranges"
        return f"values and {many} of them"

    def _distributions(
        self, quasi: Sequence[str], manifest: Mapping[str, Any]
    ) -> list[Distribution]:
        if self.policy.publish != "generalized" or self.source is None:
            return []
        entries, found = _entries(manifest), []
        for name in quasi:
            one = distribution(
                self.published.table[name],
                self.published.hierarchies[name],
                entries[name],
                self.outcome.labels[name],
                self.outcome.group_sizes,
                self.least,
            )
            if one is not None:
                found.append(one)
        return found

    def _meanings(self, quasi: Sequence[str]) -> dict[str, dict[str, list[str]]]:
        return {
            name: self.published.hierarchies[name].meanings(self.published.table[name])
            for name in quasi
        }

    def _query_error(
        self, release: ReleaseLike, source: Table, quasi: Sequence[str]
    ) -> QueryError | None:
        from incrowd.errors import InputError
        from incrowd.utility import query_error

        sensitive = [column.name for column in source.of_role("sensitive")]
        original = records_of(source, [*quasi, *sensitive])
        asked = Complete(release)
        try:
            return query_error(asked, original, queries=_QUERIES, hierarchies=self._meanings(quasi))
        except InputError:  # all cells are missing: there is nothing to ask
            return None

    def _classification(self, release: ReleaseLike) -> tuple[Classification | None, str | None]:
        if self.policy.goal != "classification" or self.source is None:
            return None, None
        source = self.source.table
        if source.records > MOST_RECORDS:
            return None, f"The source has more than {MOST_RECORDS:,} records."
        from importlib.util import find_spec

        from incrowd.errors import InputError
        from incrowd.utility import classification

        if find_spec("sklearn") is None:
            return None, 'Trees need scikit-learn: pip install "incrowd[evaluation]".'
        original = None
        if source.records >= TOLD_FROM:
            original = records_of(source, [column.name for column in source.columns])
        try:
            asked = Complete(release)
            return classification(asked, original, target=self.policy.target, repeats=1), None
        except InputError as error:
            return None, str(error)

    def _research(self, manifest: Mapping[str, Any], quasi: Sequence[str]) -> ResearchValue | None:
        """Of the published records alone: the values of suppressed ones would show in it."""
        from incrowd.errors import ParameterError
        from incrowd.research.rules import interests
        from incrowd.utility.research_value import ResearchValue, value_of_attribute

        if not self.interests or self.source is None or self.policy.publish != "generalized":
            return None
        wanted = self.interests
        if self.outcome.suppressed:
            try:
                wanted = interests(self.policy, self.published.table)
            except ParameterError:  # a rule names a value that is not published
                return None
        entries, values = _entries(manifest), []
        for name in quasi:
            cells, sizes = self.outcome.labels[name], self.outcome.group_sizes
            held = np.bincount(cells.text_of_group, weights=sizes, minlength=len(cells.texts))
            counts = {cells.texts[at]: int(held[at]) for at in np.flatnonzero(held)}
            values.append(value_of_attribute(entries[name], counts, self.published, wanted[name]))
        total = float(sum(each.value for each in values))
        return ResearchValue(total, tuple(values), self.outcome.suppressed)


def _entries(manifest: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {str(each["name"]): each for each in manifest["attributes"] if each["published"]}
