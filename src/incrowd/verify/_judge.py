"""The whole judgement of a release folder, from its published files and its manifest alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from incrowd._runtime.spark_session import giving
from incrowd._runtime.unchanged import Unchanged, promised_in, unchanged
from incrowd.errors import ParameterError
from incrowd.verify._promises import judge_promises
from incrowd.verify._stated import judge_stated, title
from incrowd.verify.counting.groups import PublishedGroups, UnjudgeableError, build_groups
from incrowd.verify.counting.original import Original
from incrowd.verify.counting.records import (
    Asked,
    by_spark,
    connected,
    judge_order,
    load,
    shut,
    within,
)
from incrowd.verify.counting.spellings import Spellings
from incrowd.verify.files.escaped import undoing
from incrowd.verify.files.layout import (
    ANATOMY,
    GENERALIZED,
    KINDS,
    LOSSY_JOIN,
    Layout,
    Promise,
    read_layout,
)
from incrowd.verify.files.listing import judge_files
from incrowd.verify.files.manifest import read_manifest
from incrowd.verify.files.readers import UnreadableError
from incrowd.verify.files.signature import judge_signature, read_key
from incrowd.verify.layouts.anatomy import anatomy_groups, open_anatomy
from incrowd.verify.layouts.contents import (
    judge_columns,
    judge_form,
    judge_identifiers,
    judge_labels,
    judge_records,
    judge_untouched,
)
from incrowd.verify.layouts.linked import groups_of_linked, open_linked
from incrowd.verify.layouts.lossy_join import lossy_join_groups, open_lossy_join
from incrowd.verify.layouts.patients import groups_of_patients, open_patients
from incrowd.verify.layouts.tables import data_table, paths_of
from incrowd.verify.layouts.times import judge_firsts, judge_times
from incrowd.verify.models import JUDGES
from incrowd.verify.verdict import (
    GROUPS,
    JUDGEABLE,
    READABLE,
    TIED,
    Finding,
    Measured,
    Verdict,
    counted,
    shown,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from duckdb import DuckDBPyConnection

    from incrowd.sources import SourceLike

_SeparateTables = TypeVar("_SeparateTables")


def verify(
    folder: str | Path,
    *,
    key: str | Path | bytes | None = None,
    original: SourceLike = None,
    memory: int | None = None,
    engine: Literal["duckdb", "spark"] = "duckdb",
    spark: Mapping[str, str] | None = None,
) -> Verdict:
    """Return the verdict on a release: one finding for each promise that its manifest makes.

    Only the files in `folder` are read, by code that shares nothing with models and methods, nor
    with what wrote the files. Promises about sensitive values that belong together, in a release as
    anatomy, stay open without the original, which is read as every source: see `Verdict.open`.

    Parameters
    ----------
    folder
        The folder of a release, with its manifest.json.
    key
        An Ed25519 public key in PEM, as a path or as bytes. The release must then be signed by it.
        Without a key, a signature is checked against the key that the manifest itself carries.
    original
        The table that the release was made from, as a path, a frame or a database URL. Used only
        where the files alone cannot show that a promise is kept.
    memory
        How many bytes counting may take; beyond that it goes to disk. Most of the machine's memory
        when left out.
    engine
        Who counts the records: DuckDB on this machine, or Spark, which needs the folder to be one
        that its executors share.
    spark
        Properties of Spark, where it must be started, as in `{"spark.master": "yarn"}`.

    Raises
    ------
    InputError
        When there is no release in `folder`, or `key` is not such a key. A release that is broken
        in any other way gets a verdict that does not hold.
    EngineError
        When memory or disk space do not suffice to judge it.

    Notes
    -----
    Without a signature by a key known beforehand, a forger who rewrites files and manifest
    together is judged by the promises he writes: the verdict is on those, not on the original.
    """
    pinned = None if key is None else read_key(key)
    if engine not in ("duckdb", "spark"):
        raise ParameterError("engine: must be duckdb or spark.")
    with within(memory), by_spark(engine == "spark"), giving(spark):
        return _verify(Path(folder), pinned, original)


def _verify(folder: Path, pinned: Ed25519PublicKey | None, original: SourceLike) -> Verdict:
    reading = read_manifest(folder)
    layout, problems = (None, []) if reading.raw is None else read_layout(reading.raw)
    findings = [reading.finding(problems)]
    signature = judge_signature(reading, pinned)
    if signature is not None:
        findings.append(signature)
    if layout is None:
        return Verdict(folder, tuple(findings), {}, ())
    with undoing(layout.escaped):
        return _judge(folder, layout, findings, original)


def _judge(folder: Path, layout: Layout, findings: list[Finding], original: SourceLike) -> Verdict:
    """Return the verdict on a release whose manifest has the right layout."""
    if layout.linked is not None:
        return _judge_tables(folder, layout, findings, open_linked, groups_of_linked)
    if layout.of_patients:
        return _judge_tables(folder, layout, findings, open_patients, groups_of_patients)
    if layout.publish == ANATOMY:
        beside = None if original is None else Original(original, layout)
        opened = partial(open_anatomy, original=beside)
        return _judge_tables(folder, layout, findings, opened, anatomy_groups)
    if layout.publish == LOSSY_JOIN:
        return _judge_tables(folder, layout, findings, open_lossy_join, lossy_join_groups)
    if layout.publish != GENERALIZED:
        findings.append(judge_files(folder, layout, one_table=False, tables_only=False))
        detail = f"this version judges only releases published as {', '.join(KINDS)}"
        findings.append(Finding(JUDGEABLE, False, detail))
        unjudged: tuple[Measured, ...] = tuple({} for _ in layout.promises)
        return Verdict(
            folder,
            tuple(findings),
            {},
            unjudged,
            _not_judged(layout),
            layout.unit,
            layout.of_patients,
            _unchanged(layout),
        )
    return _judge_generalized(folder, layout, findings)


def _judge_generalized(folder: Path, layout: Layout, findings: list[Finding]) -> Verdict:
    findings.append(judge_files(folder, layout))
    groups: Measured = {}
    with connected() as connection:
        try:
            table = data_table(layout)
            counted_by = [*layout.quasi, *sorted(_sensitive(layout.promises)), *layout.timed]
            asked = Asked(counted_by, layout.kinds, layout.untouched)
            records = load(connection, paths_of(folder, table), asked)
            shut(connection)
            findings.append(Finding(READABLE, True, table.described()))
        except UnreadableError as error:
            findings.append(Finding(READABLE, False, str(error)))
            models = [_unjudged(each, "the data cannot be read") for each in layout.promises]
        else:
            findings += [
                judge_identifiers(layout, records),
                judge_columns(layout, table, records),
                judge_records(layout, table, records),
                judge_order(records),
                *judge_form([records]),
                *judge_labels(layout, records),
                *judge_untouched(layout, records),
                *judge_firsts(judge_times(layout, records), [(layout, records)]),
            ]
            spellings = Spellings.of(layout)
            columns = {name: records.sql_name(name) for name in records.keys}
            spellings.take_for_one(connection, records.table, columns)
            models, groups = _judge_groups(
                layout,
                spellings,
                findings,
                lambda: build_groups(records, layout.quasi, _sensitive(layout.promises)),
            )
    return _verdict(folder, layout, findings, models, groups)


def _judge_tables(
    folder: Path,
    layout: Layout,
    findings: list[Finding],
    opened: Callable[
        [DuckDBPyConnection, Path, Layout, Spellings], tuple[_SeparateTables | None, list[Finding]]
    ],
    grouped: Callable[[_SeparateTables], PublishedGroups],
) -> Verdict:
    """Return the verdict on a release of several tables."""
    findings.append(judge_files(folder, layout, one_table=layout.of_patients))
    groups: Measured = {}
    spellings = Spellings.of(layout)
    with connected() as connection:
        tables, found = opened(connection, folder, layout, spellings)
        findings += found
        if tables is None:
            models = [_unjudged(each, "the tables cannot be read") for each in layout.promises]
        elif any(each.promise == TIED and not each.holds for each in found):
            models = [_unjudged(each, "the tables do not fit together") for each in layout.promises]
        else:
            models, groups = _judge_groups(layout, spellings, findings, lambda: grouped(tables))
    return _verdict(folder, layout, findings, models, groups)


def _verdict(
    folder: Path,
    layout: Layout,
    findings: list[Finding],
    models: list[Finding],
    groups: Measured,
) -> Verdict:
    """Return the verdict with the findings on the models, and on what the manifest states."""
    measured = tuple(model.measured for model in models)
    findings += models
    if layout.measured is not None or layout.groups is not None:
        findings.append(judge_stated(layout, groups, models))
    return Verdict(
        folder,
        tuple(findings),
        groups,
        measured,
        _not_judged(layout),
        layout.unit,
        layout.of_patients,
        _unchanged(layout),
    )


def _unchanged(layout: Layout) -> tuple[Unchanged, ...]:
    """Return what the release publishes as it is."""
    roles = [
        (each.name, each.role) for each in layout.attributes if each.published and each.time is None
    ]
    return unchanged(roles, layout.publish, _sensitive(layout.promises))


def _not_judged(layout: Layout) -> tuple[str, ...]:
    """Return what the release holds and no judgement is about, in words."""
    told = [
        f"{shown(file.name)}: only that it is the listed file, not what it says"
        for file in layout.files
        if file.columns is None
    ]
    if layout.not_judged:
        told.append(f"'manifest.json': what it says of {', '.join(layout.not_judged)}")
    if len(layout.published) < len(layout.attributes):
        told.append("'manifest.json': the names of columns that are not published")
    return tuple(told)


def _judge_groups(
    layout: Layout,
    spellings: Spellings,
    findings: list[Finding],
    build: Callable[[], PublishedGroups],
) -> tuple[list[Finding], Measured]:
    """Return a finding for each promised model, and what the groups measure."""
    layout = replace(layout, promises=spellings.promises(layout.promises))
    findings += spellings.findings()
    try:
        groups = build()
    except UnjudgeableError as error:
        findings.append(Finding(GROUPS, False, str(error)))
        return [_unjudged(each, str(error)) for each in layout.promises], {}
    measured = groups.measured()
    least = "" if groups.smallest == groups.largest else f"{groups.smallest:,} to "
    one = "patient" if layout.of_patients else "record"
    detail = f"{counted(groups.count, 'group')} of {least}{counted(groups.largest, one)}"
    findings.append(Finding(GROUPS, True, detail, measured))
    findings.append(judge_promises(layout, groups))
    return [_judge_model(promise, groups) for promise in layout.promises], measured


def _sensitive(promises: tuple[Promise, ...]) -> set[str]:
    """Return the columns that the promises call sensitive, one or a list of them each."""
    return promised_in(promise.parameters for promise in promises)


def _judge_model(promise: Promise, groups: PublishedGroups) -> Finding:
    if promise.model not in JUDGES:
        return _unjudged(promise, "this version does not know it")
    judge = JUDGES[promise.model]
    if groups.facts is not None and groups.facts.known and judge.known is None:
        return _unjudged(promise, "it does not count what may be known of events")
    of_events = promised_in([promise.parameters]) & groups.events
    if of_events and not judge.over_events(promise.parameters):
        return _unjudged(
            promise, f"it counts one value for each patient, and {shown(min(of_events))} has more"
        )
    try:
        judged = judge.judge(promise, groups)
    except UnjudgeableError as error:
        return _unjudged(promise, str(error))
    return Finding(title(promise), judged.holds, judged.detail, judged.measured, judged.alone)


def _unjudged(promise: Promise, reason: str) -> Finding:
    return Finding(title(promise), False, f"cannot judge this model: {reason}")
