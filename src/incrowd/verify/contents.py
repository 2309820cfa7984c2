"""The columns and the number of records of a data file against what the manifest promises."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from incrowd.verify.models.base import SLACK
from incrowd.verify.verdict import COLUMNS, IDENTIFIERS, RECORDS, Finding, counted, listed, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from incrowd.verify.layout import Layout
    from incrowd.verify.published import PublishedTable
    from incrowd.verify.records import Records


def judge_identifiers(layout: Layout, records: Records) -> Finding:
    """Return the judgement on identifiers: none is marked as published or found in the file."""
    marked = [each for each in layout.attributes if each.role == "identifier"]
    leaked = [each.name for each in marked if each.published or each.name in records.columns]
    if leaked:
        named = ", ".join(shown(name) for name in leaked)
        return Finding(IDENTIFIERS, False, f"identifiers are among the published columns: {named}")
    return Finding(IDENTIFIERS, True, "no column in the role of an identifier is published")


def judge_columns(layout: Layout, file: PublishedTable, records: Records) -> Finding:
    """Return the judgement on columns: the file has the published attributes and no other."""
    promised, found = set(layout.published), set(records.columns)
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
    records: Records,
    others: Iterable[tuple[PublishedTable, Records]] = (),
) -> Finding:
    """Return the judgement on counts: every source record is published or accounted for.

    The files of all tables, of records and `others`, must have as many rows as listed.
    """
    counts = layout.records
    problems = [
        f"{shown(file.name)} has {counted(found, 'row')}, not {file.rows:,}"
        for listed_table, held in ((table, records), *others)
        for file, found in zip(listed_table.files, held.parts, strict=True)
        if found != file.rows
    ]
    if records.rows != counts["published"]:
        published = counted(counts["published"], "record")
        problems.append(f"{published} should be published, found {records.rows:,}")
    accounted = counts["published"] + counts["suppressed"] + counts["missing_dropped"]
    if accounted != counts["source"]:
        source = counted(counts["source"], "source record")
        problems.append(f"{accounted:,} of {source} are accounted for")
    allowed = math.floor(layout.suppression_limit * counts["source"] + SLACK)
    if counts["suppressed"] > allowed:
        suppressed = counted(counts["suppressed"], "suppressed record")
        problems.append(f"{suppressed}, promised at most {allowed:,}")
    if problems:
        return Finding(RECORDS, False, listed(problems))
    detail = (
        f"{counted(counts['source'], 'source record')}: {counts['published']:,} published,"
        f" {counts['suppressed']:,} suppressed, {counts['missing_dropped']:,} dropped as missing"
    )
    return Finding(RECORDS, True, detail)
