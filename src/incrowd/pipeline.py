"""The one way from a source and a policy to a release, with every guard on it.

Python, the command line, the page and comparisons take it:

    destination, watch, engine (`Plan`) -> read, encode, count (`Plan.begin`) -> search ->
    label (`Job.release`) -> write, verify, report, look again, appear (`Release.save`)

A hospital takes its steps with the others in between: its destination and watch are those of
`place_for_release`, its task is that of `task_of` over sums, and its release goes by `Job.release`
and `Release.save`. Its records are read in `federation/`, over the values that all agreed on, and
counted in memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._runtime.progress import Progress, silent
from incrowd._runtime.secret_key import SecretKey
from incrowd._runtime.sentences import listed
from incrowd._runtime.spark_session import giving
from incrowd._version import __version__
from incrowd.counts.placed import counts_of
from incrowd.engines.choice import IN_MEMORY, Engine, choose
from incrowd.errors import PolicyError
from incrowd.methods.base import Outcome, TablesOfPatients, TaskAt
from incrowd.methods.registry import METHOD_OPTIONS, run
from incrowd.policy import Policy, as_policy
from incrowd.policy.reach import source_of
from incrowd.policy.times import told_key
from incrowd.policy.units import check_key
from incrowd.publish.destination import Destination, destination
from incrowd.publish.formulas import formula_warnings
from incrowd.publish.key_files import refuse_key_in
from incrowd.publish.manifest import draft
from incrowd.publish.original_records import Unpublished, original_groups
from incrowd.publish.release import Release
from incrowd.publish.unprotected import refuse_published, refuse_singled_out
from incrowd.sources.source_guard import Watch
from incrowd.table import MemoryTable
from incrowd.table.profiles import Histories

if TYPE_CHECKING:
    from incrowd.counts import Counts
    from incrowd.engines.preparation import Prepared
    from incrowd.engines.spark.gathering import SparkRecords
    from incrowd.methods.options import TraceStep
    from incrowd.research.rules import Interest
    from incrowd.sources import SourceLike


def anonymize(
    source: SourceLike = None,
    policy: Policy | Mapping[str, Any] | str | Path = "policy.yaml",
    *,
    accept_unprotected: bool = False,
    key: str | Path | None = None,
    spark: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> Release:
    """The release of a table under a policy.

    Parameters
    ----------
    source
        A pandas, polars, Arrow or PySpark frame, a path, or a database URL; None takes the
        `source:` of the policy, which may be a server only where PGHOST and PGUSER name the same.
    policy
        A Policy, a mapping of the same shape, or the path of a YAML file.
    accept_unprotected
        Publish columns of the roles keep and target even where their values single records out;
        else that is an UnprotectedError.
    key
        The file of a secret key (`incrowd key new FILE`): the pseudonyms of patients, and shifts of
        their dates, are then the same in every release made with it.
    spark
        Properties of Spark, where it must be started, as in `{"spark.master": "yarn"}`: any, while
        a policy may set only sizes and numbers.
    progress
        Called with (stage, done, whole) as the work goes on.

    Example
    -------
    >>> import polars
    >>> frame = polars.DataFrame({"age": [30, 31, 50, 52], "disease": ["Flu", "HIV", "Flu", "Flu"]})
    >>> policy = {
    ...     "attributes": {"age": "quasi", "disease": "sensitive"},
    ...     "privacy": [{"k-anonymity": {"k": 2}}],
    ... }
    >>> anonymize(frame, policy).data["age"].to_list()
    ['[30-32)', '[30-32)', '[50-53)', '[50-53)']
    """
    with giving(spark):
        plan = Plan(source, policy, accept_unprotected=accept_unprotected, key=key)
        return plan.begin(progress).searched()


class Plan:
    """A run that has begun, with all that is known, or refused, before a record is read.

    Parameters
    ----------
    source, policy
        As for `anonymize`.
    output
        The folder for the release; None where that is known later, as in Python.
    replace
        Whether a release that is there now may be replaced.
    accept_unprotected
        Whether untouched columns may single records out.
    key
        The file of a secret key, that pseudonyms and shifts of dates follow from.

    Raises
    ------
    OutputError
        When no release may go there: something is there, or it overlaps with the source.
    PolicyError
        When the policy and its engine, or the key, do not go together.
    InputError
        When there is no such key, or it lies in a release.
    """

    def __init__(
        self,
        source: SourceLike,
        policy: Policy | Mapping[str, Any] | str | Path,
        output: str | Path | None = None,
        *,
        replace: bool = False,
        accept_unprotected: bool = False,
        key: str | Path | None = None,
    ) -> None:
        self.policy = as_policy(policy)
        self.source = source_of(self.policy, source)
        self.watch = Watch(self.source)
        self.place = None
        if output is not None:
            self.place = place_for_release(self.watch, output, self.policy, replace=replace)
        self.engine = choose(self.policy, self.source)
        self._accept_unprotected = accept_unprotected
        self.key = None if key is None else SecretKey.read(key)
        if self.key is not None:
            check_key(self.policy, self.engine.name)
            refuse_key_in(self.key, None if self.place is None else self.place.folder)
        if self.engine.name == "spark" and self.policy.spreadsheet is not None:
            raise PolicyError(
                "spreadsheet: escape is for files that are written on this machine, and Spark "
                "writes its own. Leave it out, or take another engine."
            )

    def begin(self, progress: Progress = silent) -> Job:
        """Read, encode and count the records of the source."""
        prepared, records = self._read(progress)
        progress("counting", 0, 1)
        if not self._accept_unprotected:
            refuse_singled_out(prepared)
        counts = counts_of(prepared.counted, *counted_of(self.policy, prepared))
        return Job(
            self.policy,
            prepared,
            task_of(self.policy, prepared, counts, progress),
            self.engine,
            records,
            watch=self.watch,
            accept_unprotected=self._accept_unprotected,
            key=self.key,
        )

    def _read(self, progress: Progress) -> tuple[Prepared, SparkRecords | None]:
        """The records of the source, encoded; and where Spark keeps them, if it does."""
        from incrowd.engines.reading import prepare_on

        prepared, records = prepare_on(self.engine, self.watch, self.policy, progress, self.key)
        # Sorted, so that what is drawn decides alone, and the order of the source does not.
        return prepared.in_order() if self.policy.method.any_order else prepared, records


@dataclass(frozen=True, repr=False)
class Job:
    """A policy, the table it is about, and what a method is asked to do with it."""

    policy: Policy
    prepared: Prepared
    task: TaskAt[Any]
    engine: Engine = IN_MEMORY
    records: SparkRecords | None = None
    """The records of the source, where Spark has them."""
    pooled: bool = True
    """Whether the prepared records are those of the source; else hospitals keep theirs."""
    watch: Watch | None = None
    """The source as it was, looked at again before the release appears."""
    accept_unprotected: bool = False
    """Whether untouched columns may single records out."""
    key: SecretKey | None = None
    """What pseudonyms and shifts follow from, where somebody gave one."""

    @classmethod
    def begin(
        cls,
        source: SourceLike,
        policy: Policy | Mapping[str, Any] | str | Path,
        progress: Progress = silent,
        *,
        accept_unprotected: bool = False,
    ) -> Job:
        """The job of a run whose output is not known yet."""
        return Plan(source, policy, accept_unprotected=accept_unprotected).begin(progress)

    def searched(self) -> Release:
        """The release of what the method of the policy decides."""
        return self.release(run(self.task, self.policy.method))

    def release(self, outcome: Outcome) -> Release:
        """The release of what a method decided."""
        from incrowd.publish.relabelling import without_suppressed
        from incrowd.publish.shown_events import with_shown_events
        from incrowd.publish.tables import published_tables
        from incrowd.report.reporting import Reporting

        self.task.progress("labelling", 0, 1)
        source = prepared = self.prepared
        remarks = [*prepared.remarks, *outcome.remarks]
        if outcome.events:
            prepared, outcome = with_shown_events(prepared, self.policy, outcome)
        elif outcome.suppressed:
            prepared, outcome = without_suppressed(prepared, self.policy, outcome)
        tables = published_tables(self.policy.publish, prepared, outcome)
        manifest = draft(self.policy, prepared, outcome, tables, __version__)
        if not self.accept_unprotected:
            refuse_published(prepared, next(iter(tables.values())))
        needed = original_groups(self.policy.publish, prepared.models, prepared.table, outcome)
        by_whom: dict[str, Any] = {}
        if self.records is not None:
            from incrowd.publish.spark_parts import PartsWriter

            by_whom = {"writer": PartsWriter(self.records.session), "judge": "spark"}
        reporting = Reporting(
            self.policy, source if self.pooled else None, prepared, outcome, self._interests()
        )
        return Release(
            tables,
            manifest,
            file_format=self.policy.format,
            memory=self.engine.memory,
            remarks=[
                *remarks,
                *formula_warnings(manifest),
                *([] if self.key is None else [told_key(manifest)]),
            ],
            unpublished=Unpublished(needed, reporting, self.watch, key=self.key, **by_whom),
        )

    def _interests(self) -> Mapping[str, Interest]:
        """What a researcher wants of each attribute, where the policy says."""
        from incrowd.policy.interests import interests

        if self.task.interests or not self.pooled:
            return self.task.interests
        asked = [each for each in self.policy.attributes.values() if each.role == "quasi"]
        said = any(each.weight is not None or each.rules for each in asked)
        return interests(self.policy, self.prepared.table) if said else {}


def counted_of(policy: Policy, prepared: Prepared) -> tuple[list[str], list[str]]:
    """The attributes that make groups, and those that are counted in every group, each once."""
    counted = [name for model in prepared.models for name in model.counted_attributes]
    if policy.predicted is not None:
        counted.append(policy.predicted)
    quasi = [column.name for column in prepared.table.of_role("quasi")]
    return quasi, list(dict.fromkeys(counted))


def task_of(
    policy: Policy, prepared: Prepared, counts: Counts, progress: Progress = silent
) -> TaskAt[Any]:
    """What the method of a policy is asked to do, over a home of the prepared records."""
    from incrowd.policy.interests import interests

    return TaskAt(
        counts,
        prepared.table.of_role("quasi"),
        prepared.hierarchies,
        prepared.models,
        policy.suppression,
        policy.goal,
        policy.predicted,
        progress,
        interests(policy, prepared.table) if policy.method.values_research else {},
        _tables_of_patients(prepared),
    )


def _tables_of_patients(prepared: Prepared) -> TablesOfPatients | None:
    """The profiles of patients and their rows, where these are in memory."""
    table, histories = prepared.table, prepared.histories
    if isinstance(table, MemoryTable) and isinstance(histories, Histories):
        return TablesOfPatients(table, histories)
    return None


class Specializing:
    """A release in the making: iterate over its steps, stop where you like, take the release.

    Privacy holds after every step, detail grows with every step: the trade-off between the two
    can be followed and ended by hand. Iterating again goes on where it was left.
    """

    def __init__(self, job: Job) -> None:
        search = job.policy.method.steps(job.task)
        if search is None:
            able = [name for name, each in METHOD_OPTIONS.items() if each.has("steps")]
            raise PolicyError(
                f"Only {listed(able, quoted=False, last=' or ')} goes step by step, this policy "
                f"asks for {job.policy.method.name}. Say `method: {able[0]}`."
            )
        self._job, self._search = job, search

    def __iter__(self) -> Iterator[TraceStep]:
        """Specialize, as long as privacy allows; yields after each step."""
        return iter(self._search)

    def release(self) -> Release:
        """The release of the table as it is now."""
        return self._job.release(self._search.outcome())


def specialize(
    source: SourceLike = None,
    policy: Policy | Mapping[str, Any] | str | Path = "policy.yaml",
    *,
    accept_unprotected: bool = False,
    spark: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> Specializing:
    """The steps from one label per attribute to as many as privacy allows, one at a time.

    Parameters
    ----------
    source, policy, accept_unprotected, spark, progress
        As for `anonymize`; the method must be one that goes step by step, as
        `top-down-specialization` does.

    Example
    -------
    >>> import polars
    >>> frame = polars.DataFrame({"age": [30, 31, 50, 52], "sex": ["F", "M", "F", "M"]})
    >>> policy = {
    ...     "attributes": {"age": "quasi", "sex": "quasi"},
    ...     "privacy": [{"lkc": {"L": 1, "K": 2}}],
    ... }
    >>> steps = specialize(frame, policy)
    >>> next(iter(steps)).attribute
    'age'
    >>> steps.release().data["age"].to_list()
    ['[30-32)', '[30-32)', '[50-53)', '[50-53)']
    """
    with giving(spark):
        plan = Plan(source, policy, accept_unprotected=accept_unprotected)
        return Specializing(plan.begin(progress))


def place_for_release(
    watch: Watch, output: str | Path, policy: Policy, *, replace: bool = False
) -> Destination:
    """The folder for the release of a run that begins, refused before any record is read.

    It is looked at again, and so is the source, before the release appears.

    Parameters
    ----------
    watch
        The source of the run.
    output
        The folder.
    policy
        For the words of a refusal: which columns will be published.
    replace
        Whether a release that is there now may be replaced.

    Raises
    ------
    OutputError
        When no release may go there: something is there, or it overlaps with the source.
    """
    return destination(output, watch, replace=replace, columns=_published(policy))


def _published(policy: Policy) -> Collection[str] | None:
    """The columns that a policy publishes; None where that takes a look at the source."""
    if policy.other == "keep":
        return None
    return [name for name, asked in policy.attributes.items() if asked.role != "identifier"]
