"""What the HTTP interface answers: one model for each kind of thing, with examples."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from incrowd.privacy import KAnonymity
from incrowd.serve.workspace.runs import Rows, Run
from incrowd.serve.workspace.sources import WorkspaceSource
from incrowd.serve.workspace.trees import Coverage, Tree

_ID = Field(description="Names it in addresses.", examples=["5f2b9c0d4e6a7b81"])


class ErrorAnswer(BaseModel):
    """What went wrong and what to do about it. No message holds a cell of the data."""

    error: str = Field(examples=["No column 'ages' in patients.csv. Did you mean 'age'?"])
    kind: str | None = Field(default=None, examples=["PolicyError"])


class Status(BaseModel):
    """The server itself."""

    version: str = Field(examples=["0.1.0"])
    sources: int
    runs: int
    running: int = Field(description="Runs that wait or go on.")
    upload_limit: int = Field(description="The largest file that is taken, in bytes.")


class StageProgress(BaseModel):
    """How far a piece of work is: a stage, and how much of it is done."""

    stage: str = Field(examples=["verifying"])
    done: int
    whole: int


class ColumnAnswer(BaseModel):
    """A column of a file, with the role it probably has and why."""

    model_config = ConfigDict(extra="ignore")

    name: str = Field(examples=["birth_date"])
    kind: Literal["numeric", "category", "date", "ordered"]
    distinct: int = Field(description="How many different values it has.")
    missing: float = Field(description="The share of the records without a value.")
    uniqueness: float = Field(description="The share with a value that no other record has.")
    role: Literal["identifier", "quasi", "sensitive", "target", "keep"]
    reason: str = Field(examples=["Others may know a date of birth."])
    hierarchy: dict[str, Any] | None = Field(description="What a policy should say, if anything.")
    warnings: list[str]


class UnitAnswer(BaseModel):
    """What a row of a file probably is, for `unit:` of a policy."""

    unit: str = Field(description="`row`, or an identifier column.", examples=["patient_id"])
    reason: str
    undecided: bool = Field(description="Whether a person must decide before anything is run.")


class TableAnswer(BaseModel):
    """One of several tables of the same patients, and how it hangs on that of the patients."""

    name: str = Field(description="`patients`, or as a policy calls it.", examples=["conditions"])
    file: str = Field(examples=["conditions.csv"])
    rows: int
    unit: str = Field(description="The column that names the patient of a row.")
    unmatched: int = Field(description="Rows whose patient is not in the table of patients.")


class SourceAnswer(BaseModel):
    """A table that the server holds, or several of the same patients."""

    id: str = _ID
    name: str = Field(examples=["patients.csv"])
    state: Literal["studying", "ready", "failed"]
    message: str = Field(description="Why it failed; empty otherwise.")
    progress: StageProgress
    records: int | None = Field(
        description="Known once it is ready; of several tables, the patients.", examples=[72194]
    )
    columns: list[ColumnAnswer] = Field(description="Those of events are called table.column.")
    tables: list[TableAnswer] = Field(
        description="How several tables hang together, that of the patients first; else empty."
    )
    unit: UnitAnswer | None = Field(description="Known once it is ready.")
    warnings: list[str]
    problem: str | None = Field(description="Why its policy cannot be run; null when it can.")

    @classmethod
    def of(cls, source: WorkspaceSource) -> Self:
        """The answer for a source."""
        found = source.profile if source.state == "ready" else None
        return cls(
            id=source.id,
            name=source.name,
            state=source.state,
            message=source.message,
            progress=StageProgress(stage=source.stage, done=source.done, whole=source.whole),
            records=None if found is None else found.records,
            columns=[ColumnAnswer(**each.as_dict()) for each in found.columns] if found else [],
            tables=[
                TableAnswer.model_validate(each, from_attributes=True) for each in source.tables
            ],
            unit=None if found is None else UnitAnswer(**found.unit.as_dict()),
            warnings=[] if found is None else list(found.warnings),
            problem=source.problem,
        )


class RowsAnswer(BaseModel):
    """Some rows of a table, all cells as text, null where one is missing."""

    columns: list[str] = Field(examples=[["birth_date", "gender"]])
    rows: list[list[str | None]] = Field(examples=[[["1911-07-13", "Female"]]])
    offset: int = 0
    total: int | None = Field(default=None, description="How many rows the table has.")
    table: str | None = Field(default=None, examples=["data"])
    tables: list[str] = Field(default_factory=list, description="All tables of the release.")

    @classmethod
    def of(cls, rows: Rows) -> Self:
        """The answer for rows of a release."""
        return cls.model_validate(asdict(rows))


class RiskAnswer(BaseModel):
    """How exposed records or patients are to someone who knows their quasi-identifiers."""

    one: str = Field(description="What is counted: record or patient, in `records` and elsewhere.")
    records: int
    quasi: list[str]
    groups: dict[str, int | float] = Field(
        description="Records that agree on all quasi-identifiers: count, smallest, average, largest"
    )
    uniques: dict[str, int | float] = Field(description="Records that are alone: records, share.")
    prosecutor: dict[str, Any] = Field(
        description="Risk of a person known to be in the file: highest, average, share above."
    )
    marketer: float = Field(description="The share of records that could be told on average.")
    attributes: list[dict[str, Any]]
    sensitive: list[dict[str, Any]] = Field(
        description="What groups give away of each sensitive attribute."
    )


class CoverageAnswer(BaseModel):
    """How many distinct values of a column a hierarchy knows."""

    values: int
    covered: int
    missing: int
    records: int
    records_missing: int = Field(description="Records whose value the hierarchy does not know.")
    complete: bool

    @classmethod
    def of(cls, coverage: Coverage) -> Self:
        """The answer for a coverage."""
        return cls(**asdict(coverage), missing=coverage.missing, complete=coverage.complete)


class NodeAnswer(BaseModel):
    """A label of a hierarchy with what lies under it."""

    label: str
    values: int
    records: int
    children: list[NodeAnswer]
    more: int = Field(description="Children that are not listed.")


class TreeAnswer(BaseModel):
    """A hierarchy as a tree."""

    attribute: str
    kind: str = Field(examples=["file", "dates", "mask"])
    height: int
    coverage: CoverageAnswer
    root: NodeAnswer | None

    @classmethod
    def of(cls, tree: Tree) -> Self:
        """The answer for a tree."""
        return cls.model_validate({**asdict(tree), "coverage": CoverageAnswer.of(tree.coverage)})


class DraftAnswer(BaseModel):
    """A policy as a mapping of the shape of a policy file."""

    policy: dict[str, Any] = Field(
        examples=[
            {
                "source": "patients.csv",
                "attributes": {"id": "identifier", "age": "quasi", "disease": "sensitive"},
                "privacy": [{KAnonymity.name: {"k": 5}}],
            }
        ]
    )
    problem: str | None = Field(description="Why it cannot be run; null when it can.")


class RunAnswer(BaseModel):
    """A run: a release in the making or made."""

    id: str = _ID
    number: int = Field(description="Counted from 1, over all sources.")
    source: str = Field(description="The id of the source.", examples=["0c1d2e3f4a5b6c7d"])
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    progress: StageProgress
    message: str = Field(description="Why it failed; empty otherwise.")
    unprotected: bool = Field(
        description="Whether it failed only since columns kept as they are single records out."
    )
    started: datetime | None
    seconds: float
    summary: dict[str, Any] | None = Field(
        description="Once done: records, groups, what was measured, utility, risk, findings.",
        examples=[{"verified": True, "utility": {"ncp": 0.006, "information_kept": 0.994}}],
    )
    files: list[str] = Field(description="The files of the release, once it is done.")
    has_report: bool

    @classmethod
    def of(cls, run: Run) -> Self:
        """The answer for a run."""
        state = run.state
        return cls(
            id=run.id,
            number=run.number,
            source=run.source.id,
            state=state,
            progress=StageProgress(stage=run.stage, done=run.done, whole=run.whole),
            message=run.message,
            unprotected=run.unprotected,
            started=run.started,
            seconds=round(run.seconds, 3),
            summary=run.summary if state == "done" else None,
            files=run.files() if state == "done" else [],
            has_report=run.report is not None,
        )
