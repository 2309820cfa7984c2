"""What is left of events that attackers may know: for a private report, held against the source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from incrowd.report.drawing import bars, before_after
from incrowd.table.profiles import Histories

if TYPE_CHECKING:
    from incrowd.engines.preparation import Prepared
    from incrowd.labels import Meaning
    from incrowd.published.opened import ReleaseLike
    from incrowd.utility import HistoryOfAttribute, LeftOfHistories

_BARS = 12


def left_of_known_events(source: Prepared, release: ReleaseLike) -> tuple[LeftOfHistories, ...]:
    """What is left of the events of a source that attackers may know, table by table."""
    import polars as pl

    from incrowd.attacks.event_sources import PeopleAndEvents
    from incrowd.published.events import EventRows
    from incrowd.utility import left_of_source

    if not isinstance(source.histories, Histories):
        return ()
    events: list[EventRows] = []
    meanings: dict[str, Meaning] = {}
    for name, table in source.histories.tables.items():
        known = [column for column in table.columns if column.role == "quasi"]
        if known:
            meanings |= {c.name: source.hierarchies[c.name].meanings(c) for c in known}
            texts = [
                pl.Series(c.name, [*c.values, None], dtype=pl.String).gather(c.codes) for c in known
            ]
            events.append(EventRows(name, pl.DataFrame(texts), table.patient, {}))
    if not events:
        return ()
    people = PeopleAndEvents("the source", source.table.records, pl.DataFrame(), tuple(events))
    return left_of_source(release, people, meanings)


def pictures_of_known(
    found: Sequence[LeftOfHistories],
) -> list[tuple[LeftOfHistories, HistoryOfAttribute, list[Markup]]]:
    """Of each attribute the pictures of its most frequent values and pairs, before and after."""
    return [
        (table, each, [picture for picture in _pictures(each) if picture])
        for table in found
        for each in table.attributes
    ]


def _pictures(found: HistoryOfAttribute) -> list[Markup]:
    told = (("value", found.counts), ("two values", found.pairs))
    return [
        bars(
            [
                before_after(
                    ", ".join(each or "(missing)" for each in count.values),
                    count.before,
                    count.at_least,
                )
                for count in counts[:_BARS]
            ],
            f"Patients by {what} of {found.name}, before and after",
        ).svg("bars")
        for what, counts in told
        if counts
    ]
