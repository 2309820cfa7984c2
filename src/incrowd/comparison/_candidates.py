"""Several policies on one source, side by side: what each promises, keeps, loses and takes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._runtime.manifests import counts_in
from incrowd._runtime.plain_fields import plain_fields
from incrowd._runtime.progress import Progress, silent
from incrowd.comparison._parameter_ranges import Variant, variants
from incrowd.comparison.folder import Keeping, Kept
from incrowd.errors import InputError, ParameterError, PolicyError, PrivacyError
from incrowd.pipeline import Job
from incrowd.policy import Policy, as_policy
from incrowd.policy.linked import tables_of
from incrowd.policy.reach import source_of
from incrowd.policy.units import one_counted
from incrowd.sources import Source, SourceLike, read
from incrowd.table.profiles import PATIENTS

if TYPE_CHECKING:
    import polars as pl

    from incrowd.comparison.dominance import ReleaseRisks
    from incrowd.engines.preparation import Prepared
    from incrowd.publish import Release
    from incrowd.published.granularity import Seen
    from incrowd.utility import Discernibility, QueryError
    from incrowd.verify import Verdict


_ONE = frozenset({PATIENTS})


@dataclass(frozen=True)
class Candidate:
    """One policy with what came of it; `problem` says why nothing did."""

    name: str
    publish: str
    method: str
    promises: tuple[str, ...]
    """The promised models, with their parameters."""
    seconds: float
    """For making the release; reading, saving and measuring come on top."""
    problem: str | None = None
    tables: int = 0
    suppressed: int = 0
    privacy: tuple[Mapping[str, Any], ...] = ()
    """For each promised model its name and what the judge measured."""
    risk: ReleaseRisks | None = None
    seen: tuple[Seen, ...] = ()
    """What an analyst sees of each quasi-identifier."""
    ncp: float | None = None
    query_error: QueryError | None = None
    sizes: Discernibility | None = None
    of: str = ""
    """The name of the policy that this is a variant of; its own where nothing varies."""
    varied: Mapping[str, str] = field(default_factory=dict)
    """The parameters that set it apart from other variants."""
    folder: str | None = None
    """The release in the output folder, where there is one."""
    one: str = "record"
    """What one of those that are counted is called."""

    @property
    def measured(self) -> list[tuple[str, str]]:
        """For each promised model its name and the numbers that the judge measured."""
        return [
            (
                each["model"],
                ", ".join(
                    f"{name}={value:.4g}"
                    for name, value in each.items()
                    if name not in ("model", "groups_failing")
                    and isinstance(value, int | float)
                    and not isinstance(value, bool)
                ),
            )
            for each in self.privacy
        ]

    @property
    def cells(self) -> tuple[float, float] | None:
        """The shares of cells of quasi-identifiers that are as they were, and that are hidden."""
        from incrowd.utility.granularity import overall

        return overall(self.seen) if self.seen else None

    def as_dict(self) -> dict[str, Any]:
        """The policy and its figures for JSON."""
        return {
            "policy": self.name,
            "varied": dict(self.varied),
            "folder": self.folder,
            **plain_fields(
                self, without=("name", "of", "varied", "folder", "one"), names={"sizes": "groups"}
            ),
            "counted": f"{self.one}s",
            "seen": {each.name: each.as_dict() for each in self.seen},
        }


def compare(
    policies: Sequence[Policy | Mapping[str, Any] | str | Path],
    source: SourceLike = None,
    *,
    over: Mapping[str, Sequence[Any]] | None = None,
    queries: int = 8800,
    seed: int = 0,
    output: str | Path | None = None,
    replace: bool = False,
    accept_unprotected: bool = False,
    progress: Progress = silent,
) -> list[Candidate]:
    """Several policies on one source, each with the figures of its release.

    Parameters
    ----------
    policies
        Policies, mappings of the same shape, or paths of YAML files.
    source
        The table; None takes the `source:` of the policies, which must then name the same one. Of
        linked tables a mapping, as for `incrowd.anonymize`.
    over
        Values of parameters, as in `{"k": [2, 5, 10]}`: each policy is compared with every
        combination of them, see `variants`. At most 100 policies in all.
    queries, seed
        How many random counts are asked of every release, see `incrowd.utility.query_error`;
        0 for none. The queries are the same for policies that give attributes the same roles.
    output
        A folder to keep the releases in, one folder each, with a policy file that makes it again,
        and `index.html`, a page that shows them all. It appears when all is done. By
        default releases are judged and dropped.
    replace
        Whether an earlier comparison in that folder may be replaced; else that is an OutputError.
    accept_unprotected
        As for `incrowd.anonymize`.

    Notes
    -----
    Every release is written and judged as `anonymize` and `save` do. A policy whose privacy cannot
    be reached is told with the reason, and the others go on; so is a value of a range that does
    not fit the data, such as a k above the number of records. The records are coded anew for each
    policy: time grows with the number of policies.

    References
    ----------
    The comparison of anatomy and lossy join in Hussein, Darwish, Hefny, Table XIV, measured instead
    of stated: number of tables, diversity, loss of information, utility. The picture of risk and
    utility: Duncan, Keller-McNulty, Stokes (2001), Disclosure risk vs. data utility: the R-U
    confidentiality map.
    """
    if not policies:
        raise ParameterError("policies: give at least one policy to compare.")
    named = list(zip(_names(policies), map(as_policy, policies), strict=True))
    wanted = variants(named, over or {})
    found_source = _source([policy for _, policy in named], source)
    keeping: Keeping = Keeping()
    if output is not None:
        keeping = Kept(Path(output), found_source, _given(source, found_source), replace=replace)
    keeping.refuse()
    asked = _QueryPlan(_read(found_source, named[0][1]), queries, seed, accept_unprotected)
    refused: list[InputError] = []
    with keeping.begun() as kept:
        found = [
            _candidate(number, each, asked, kept, refused, progress)
            for number, each in enumerate(wanted, start=1)
        ]
        if len(refused) == len(found):  # it is not the values of the range
            raise refused[0]
        kept.finish(found, asked.records.height)
    return found


def _candidate(
    number: int,
    variant: Variant,
    asked: _QueryPlan,
    kept: Keeping,
    refused: list[InputError],
    progress: Progress,
) -> Candidate:
    """One policy, from its records to the figures of its release.

    What does not fit the data is told, and added to `refused`, where values vary; else it is
    raised.
    """
    # The tables are read already, once for all policies.
    policy, told = variant.policy.without_reading(), partial(_told, progress, variant.name)
    begun = time.perf_counter()
    try:
        accepted = asked.accept_unprotected
        job = Job.begin(asked.original, policy, told, accept_unprotected=accepted)
        begun = time.perf_counter()
        release = job.searched()
    except (PrivacyError, PolicyError, ParameterError) as error:
        if isinstance(error, InputError):
            if not variant.varied:
                raise
            refused.append(error)
        seconds = time.perf_counter() - begun
        kept.keep_policy(number, variant)
        return _described(variant, seconds, problem=str(error))
    seconds = time.perf_counter() - begun
    told("verifying", 0, 1)
    folder, verdict = kept.keep(number, variant, release)
    figures = _figures(release, verdict, asked, _meanings(policy, job.prepared), told)
    figures["risk"] = _risks_of(release, job)
    return _described(variant, seconds, folder=folder, **figures)


@dataclass(frozen=True)
class _QueryPlan:
    """What is asked of every release: random counts of the original."""

    original: pl.DataFrame | dict[str, pl.DataFrame]
    """The table that was read, or several by their names."""
    queries: int
    seed: int
    accept_unprotected: bool = False

    @property
    def records(self) -> pl.DataFrame:
        """The one table, or that of the patients."""
        return self.original[PATIENTS] if isinstance(self.original, dict) else self.original


def _told(progress: Progress, name: str, stage: str, done: int, whole: int) -> None:
    progress(f"{name}: {stage}", done, whole)


def _names(policies: Sequence[Any]) -> list[str]:
    """A name for each policy: that of its file, or a number; made different where they are not."""
    names = [
        Path(each).stem if isinstance(each, str | Path) else f"policy {number}"
        for number, each in enumerate(policies, start=1)
    ]
    return [
        name if names.count(name) == 1 else f"{name} ({names[: at + 1].count(name)})"
        for at, name in enumerate(names)
    ]


def _source(policies: Sequence[Policy], source: SourceLike) -> Source:
    """The one source that all policies name, or the one given; or one for each of their tables."""
    if len({tuple(tables_of(each)) if each.patients else () for each in policies}) > 1:
        raise InputError(
            "The policies have different tables. Compare those on one file with each other, and "
            "those of the same linked tables."
        )
    named = [source_of(policy, source) for policy in policies]
    found = {_name_of(each) for each in named}
    if source is None and len(found) != 1:
        raise InputError(
            f"The policies name {len(found)} different sources. Compare them on one: "
            f"{'give `source`' if named[0].tables else '--source'}."
        )
    return named[0]


def _name_of(source: Source) -> tuple[str | None, ...]:
    """What tells a source from others, or the sources of linked tables."""
    parts = source.tables.values() or [source]
    return tuple(each.named(lambda path: str(Path(path).resolve())) for each in parts)


def _given(source: SourceLike, found: Source) -> frozenset[str]:
    """The tables that a person gave, and no policy named; `patients` is the only one of a file."""
    if source is None:
        return frozenset()
    return frozenset(source) if isinstance(source, Mapping) and found.tables else _ONE


def _read(source: Source, policy: Policy) -> pl.DataFrame | dict[str, pl.DataFrame]:
    """The table of a source, or its tables by their names, read as a policy says."""
    if not source.tables:
        return read(source, query=policy.query, **policy.text_options)
    asked = tables_of(policy)
    return {
        name: read(each, query=asked[name].query, **asked[name].text_options)
        for name, each in source.tables.items()
    }


def _risks_of(release: Release, job: Job) -> ReleaseRisks | None:
    from incrowd.comparison.dominance import release_risks

    evidence = release.evidence
    return None if evidence is None else release_risks(evidence, job.prepared)


def _figures(
    release: Release,
    verdict: Verdict,
    asked: _QueryPlan,
    meanings: Mapping[str, Mapping[str, Sequence[str]]],
    progress: Progress,
) -> dict[str, Any]:
    """What is measured of a release."""
    from incrowd.utility import discernibility, ncp, query_error
    from incrowd.utility.granularity import seen

    error = None
    if asked.queries:
        error = query_error(
            release,
            asked.records,
            queries=asked.queries,
            seed=asked.seed,
            hierarchies=meanings,
            progress=progress,
        )
    return {
        "tables": len(release.tables),
        "suppressed": counts_in(release.manifest)["suppressed"],
        "privacy": tuple(
            {"model": promise["model"], **measured}
            for promise, measured in zip(
                release.manifest["promises"], verdict.measured, strict=True
            )
        ),
        "seen": seen(release),
        "ncp": ncp(release).total,
        "query_error": error,
        "sizes": discernibility(release),
        "one": one_counted(release.manifest),
    }


def _meanings(policy: Policy, prepared: Prepared) -> dict[str, dict[str, list[str]]]:
    """What the labels of the hierarchies that the policy names stand for."""
    return {
        column.name: prepared.hierarchies[column.name].meanings(column)
        for column in prepared.table.of_role("quasi")
        if policy.attributes[column.name].hierarchy is not None
    }


def _described(variant: Variant, seconds: float, **figures: Any) -> Candidate:
    policy = variant.policy
    return Candidate(
        variant.name,
        policy.publish,
        policy.method.name,
        tuple(_promise(model.promise()) for model in policy.privacy),
        seconds,
        of=variant.of,
        varied=variant.varied,
        **figures,
    )


def _promise(promise: Mapping[str, Any]) -> str:
    """A model with its numbers and texts, as in "l-diversity (l=3, kind=distinct)"."""
    scalars = [
        f"{name}={value}"
        for name, value in promise["parameters"].items()
        if isinstance(value, str | int | float)
    ]
    return f"{promise['model']} ({', '.join(scalars)})" if scalars else str(promise["model"])
