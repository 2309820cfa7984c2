"""The columns and the number of records of a data file against what the manifest promises."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from incrowd.verify.files.layout import PATIENT
from incrowd.verify.models.base import SLACK
from incrowd.verify.verdict import (
    COLUMNS,
    FORM,
    IDENTIFIERS,
    LABELS,
    RECORDS,
    UNTOUCHED,
    Finding,
    counted,
    listed,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from incrowd.verify.counting.facts import EventTable
    from incrowd.verify.counting.records import PublishedRecords
    from incrowd.verify.files.layout import Layout
    from incrowd.verify.files.published import PublishedTable


def judge_identifiers(layout: Layout, records: PublishedRecords) -> Finding:
    """Return the judgement on identifiers: none is marked as published or found in the file.

    The column of pseudonyms may be called as an identifier was: what it holds is judged.
    """
    marked = [each for each in layout.attributes if each.role == "identifier"]
    found = {*records.columns} - ({PATIENT} if layout.of_patients else set())
    leaked = [each.name for each in marked if each.published or each.name in found]
    if leaked:
        named = ", ".join(shown(name) for name in leaked)
        return Finding(IDENTIFIERS, False, f"identifiers are among the published columns: {named}")
    return Finding(IDENTIFIERS, True, "no column in the role of an identifier is published")


def judge_columns(layout: Layout, file: PublishedTable, records: PublishedRecords) -> Finding:
    """Return the judgement on columns: the file has the published attributes and no other."""
    promised, found = set(layout.columns), set(records.columns)
    problems = []
    if found - promised:
        named = ", ".join(shown(name) for name in sorted(found - promised))
        problems.append(f"{shown(file.name)} has columns that nobody promised: {named}")
    if promised - found:
        named = ", ".join(shown(name) for name in sorted(promised - found))
        problems.append(f"{shown(file.name)} lacks promised columns: {named}")
    if records.columns != file.columns:
        problems.append(f"the columns of {shown(file.name)} are not those listed for the file")
    if problems:
        return Finding(COLUMNS, False, "; ".join(problems))
    return Finding(COLUMNS, True, f"{counted(len(found), 'column')} as promised, and no other")


def judge_records(
    layout: Layout,
    table: PublishedTable,
    records: PublishedRecords,
    others: Iterable[tuple[PublishedTable, PublishedRecords]] = (),
    *,
    one: str = "record",
) -> Finding:
    """Return the judgement on counts: every source record is published or accounted for.

    The files of all tables, of records and `others`, must have as many rows as listed. `one` is
    what is counted: records, or patients.
    """
    counts = layout.records
    problems = [
        f"{shown(file.name)} has {counted(found, 'row')}, not {file.rows:,}"
        for listed_table, held in ((table, records), *others)
        for file, found in zip(listed_table.files, held.parts, strict=True)
        if found != file.rows
    ]
    if records.rows != counts["published"]:
        published = counted(counts["published"], one)
        problems.append(f"{published} should be published, found {records.rows:,}")
    accounted = counts["published"] + counts["suppressed"] + counts["missing_dropped"]
    if accounted != counts["source"]:
        source = counted(counts["source"], f"source {one}")
        problems.append(f"{accounted:,} of {source} are accounted for")
    allowed = math.floor(layout.suppression_limit * counts["source"] + SLACK)
    if counts["suppressed"] > allowed:
        suppressed = counted(counts["suppressed"], f"suppressed {one}")
        problems.append(f"{suppressed}, promised at most {allowed:,}")
    if problems:
        return Finding(RECORDS, False, listed(problems))
    detail = (
        f"{counted(counts['source'], f'source {one}')}: {counts['published']:,} published,"
        f" {counts['suppressed']:,} suppressed, {counts['missing_dropped']:,} dropped as missing"
    )
    return Finding(RECORDS, True, detail)


def judge_untouched(layout: Layout, records: PublishedRecords) -> list[Finding]:
    """Return the judgement on the columns that are published as they are, if there are any.

    A record that no other has the cells of is singled out by them, whatever is promised of the
    quasi-identifiers. That breaks no promise if the manifest says so, and is never passed over.
    """
    columns, stated = layout.untouched, layout.unprotected
    if not columns and stated is None:
        return []
    named = ", ".join(shown(name) for name in columns)
    measured = {"unique": records.alone}
    one = "patient" if layout.of_patients else "record"
    which = "that no promise protects" if {*columns} & {*layout.timed} else "published as they are"
    are = "is" if records.alone == 1 else "are"
    if layout.of_patients:
        are = f"{'has' if records.alone == 1 else 'have'} a row that is"
    told = (
        f"{records.alone:,} of {counted(records.rows, one)} {are} unique on the columns {which}"
        f" ({named})"
    )
    if stated is None and records.alone:
        return [Finding(UNTOUCHED, False, f"{told}, and the manifest does not say so", measured)]
    if stated is not None and dict(stated) != {"columns": [*columns], "unique": records.alone}:
        return [Finding(UNTOUCHED, False, f"{told}; the manifest says otherwise", measured)]
    if records.alone:
        return [Finding(UNTOUCHED, True, told, measured, warns=True)]
    if layout.of_patients:
        detail = f"no single row of a patient is unique on them ({named}); several may be, together"
        return [Finding(UNTOUCHED, True, detail, measured)]
    return [Finding(UNTOUCHED, True, f"no record is unique on them ({named})", measured)]


def judge_labels(
    layout: Layout, records: PublishedRecords, events: Iterable[EventTable] = ()
) -> list[Finding]:
    """Return the judgement on labels that the manifest tells the weight of, if it does."""
    places = {name: (records.table, records.sql_name(name)) for name in records.keys}
    for table in events:
        places |= {name: (table.rows, column) for name, column in table.quasi.items()}
    told = {each.name: each.labels for each in layout.attributes if each.labels}
    wrong = []
    for name, labels in told.items():
        if name in places:
            rows, column = places[name]
            ((absent,),) = records.connection.execute(
                "SELECT count(*) FROM (SELECT unnest($labels::VARCHAR[]) AS label) AS told"
                f" ANTI JOIN {rows} ON label = {column}",
                {"labels": [*labels]},
            ).fetchall()
        else:
            absent = len(labels)
        if absent:
            wrong.append(f"{counted(absent, 'label')} of {shown(name)} that no record shows")
    if wrong:
        return [Finding(LABELS, False, f"the manifest tells of {listed(wrong)}")]
    return [Finding(LABELS, True, "it tells of no other label")] if told else []


def judge_form(tables: Iterable[PublishedRecords]) -> list[Finding]:
    """Return what is open about files whose bytes could not be compared with what they hold."""
    if all(records.compared for records in tables):
        return []
    told = (
        "written by another version of Polars than the one at hand: no metadata, filter or index is"
        " in the way, but that nothing else is hidden shows only that version"
    )
    return [Finding(FORM, None, told)]
