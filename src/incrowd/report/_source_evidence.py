"""What a private report tells beside the report of a release: the source, held against it.

Every figure here moves with single records. Who knows all others could try out the values of one
and keep those that give the same figures; so none of it is ever part of a release, and none is
rounded: it is for who holds the source anyway.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.manifests import ManifestEntry
from incrowd.errors import InputError, ParameterError
from incrowd.published.opened import as_release
from incrowd.report._distributions import Distribution, distribution
from incrowd.report._known_events import left_of_known_events
from incrowd.report._linkage_probe import LinkageProbe, known_people, probe
from incrowd.report._records import Complete, records_of
from incrowd.report.crowds import Crowds, crowds_of
from incrowd.report.evidence import categories_of, entries_of, sensitive_attributes
from incrowd.report.of_events import sensitive_events, told_of_source

if TYPE_CHECKING:
    from incrowd._runtime.progress import Progress
    from incrowd.engines.preparation import Prepared
    from incrowd.methods.base import Outcome
    from incrowd.policy import Policy
    from incrowd.published.opened import ReleaseLike
    from incrowd.research.rules import Interest
    from incrowd.table import Table
    from incrowd.utility import Classification, LeftOfHistories, QueryError, ResearchValue

MOST_RECORDS = 100_000
"""Counts are asked, and trees grown, of no more records than this."""
_QUERIES = 500


@dataclass(frozen=True)
class SourceEvidence:
    """What was measured with the source at hand; None where it does not apply."""

    before: Crowds
    """All records of the source, as they were."""
    probed: LinkageProbe | None
    distributions: tuple[Distribution, ...]
    query_error: QueryError | None = None
    classification: Classification | None = None
    trees: str | None = None
    """Why no trees were grown although the goal is classification."""
    research: ResearchValue | None = None
    known_events: tuple[LeftOfHistories, ...] = ()
    """What is left of events that attackers may know."""


@dataclass(frozen=True)
class SourceMeasuring:
    """A release with the records it was made from: `source` has all, `published` those it shows."""

    policy: Policy
    source: Prepared
    published: Prepared
    outcome: Outcome
    interests: Mapping[str, Interest] = field(default_factory=dict)

    def evidence(self, release: ReleaseLike, progress: Progress) -> SourceEvidence:
        """Count and measure.

        Notes
        -----
        One or two passes over the distinct rows for each sensitive attribute, and one for the
        records that are looked up. Counts and trees only of up to 100,000 records.
        """
        progress("measuring", 0, 1)
        release = as_release(release)
        source, models = self.source.table, self.source.models
        quasi = [column.name for column in source.of_role("quasi")]
        sensitive = sensitive_attributes(source, models)
        alike = source.alike(quasi)
        before = crowds_of(alike, sensitive, categories_of(source, models))
        told = told_of_source(self.source, sensitive_events(self.source, models))
        before = replace(before, told={**before.told, **told})
        entries, probed = entries_of(release.manifest), None
        if self.policy.publish == "generalized" and quasi:
            known = known_people(alike, before.count)
            columns = [source[name] for name in quasi]
            probed = probe(known, columns, self.published, entries, self.outcome)
        classes, trees = self._classification(release)
        return SourceEvidence(
            before,
            probed,
            tuple(self._distributions(quasi, entries)),
            self._query_error(release, source, quasi),
            classes,
            trees,
            self._research(entries, quasi),
            left_of_known_events(self.source, release) if source.records <= MOST_RECORDS else (),
        )

    def _distributions(
        self, quasi: Sequence[str], entries: Mapping[str, ManifestEntry]
    ) -> list[Distribution]:
        if self.policy.publish != "generalized":
            return []
        found = (
            distribution(
                self.published.table[name],
                self.published.hierarchies[name],
                entries[name],
                self.outcome.labels[name],
                self.outcome.group_sizes,
            )
            for name in quasi
        )
        return [one for one in found if one is not None]

    def _query_error(
        self, release: ReleaseLike, source: Table, quasi: Sequence[str]
    ) -> QueryError | None:
        from incrowd.utility import query_error

        if source.records > MOST_RECORDS or not quasi:
            return None
        sensitive = [column.name for column in source.of_role("sensitive")]
        original = records_of(source, [*quasi, *sensitive])
        meanings = {
            name: self.published.hierarchies[name].meanings(self.published.table[name])
            for name in quasi
        }
        try:
            asked = Complete(release)
            return query_error(asked, original, queries=_QUERIES, hierarchies=meanings)
        except InputError:  # all cells are missing: there is nothing to ask
            return None

    def _classification(self, release: ReleaseLike) -> tuple[Classification | None, str | None]:
        if self.policy.goal != "classification":
            return None, None
        source = self.source.table
        if source.records > MOST_RECORDS:
            return None, f"The source has more than {MOST_RECORDS:,} records."
        from importlib.util import find_spec

        from incrowd.utility import classification

        if find_spec("sklearn") is None:
            return None, 'Trees need scikit-learn: pip install "incrowd[evaluation]".'
        original = records_of(source, [column.name for column in source.columns])
        try:
            asked = Complete(release)
            return classification(asked, original, target=self.policy.target, repeats=1), None
        except InputError as error:
            return None, str(error)

    def _research(
        self, entries: Mapping[str, ManifestEntry], quasi: Sequence[str]
    ) -> ResearchValue | None:
        """Of the published records alone."""
        from incrowd.policy.interests import interests
        from incrowd.utility.research_value import ResearchValue, value_of_attribute

        if not self.interests or self.policy.publish != "generalized":
            return None
        wanted = self.interests
        if self.outcome.suppressed:
            try:
                wanted = interests(self.policy, self.published.table)
            except ParameterError:  # a rule names a value that is not published
                return None
        values = []
        for name in quasi:
            cells, sizes = self.outcome.labels[name], self.outcome.group_sizes
            held = np.bincount(cells.text_of_group, weights=sizes, minlength=len(cells.texts))
            counts = {cells.texts[at]: int(held[at]) for at in np.flatnonzero(held)}
            values.append(value_of_attribute(entries[name], counts, self.published, wanted[name]))
        total = float(sum(each.value for each in values))
        return ResearchValue(total, tuple(values), self.outcome.suppressed)
