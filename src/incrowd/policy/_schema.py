"""Policy: the one validated description of a job, read from YAML or a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from incrowd._runtime.plain_yaml import load
from incrowd._runtime.sentences import listed
from incrowd._runtime.sizes import bytes_of
from incrowd._runtime.spark_properties import policy_properties
from incrowd._runtime.validation_messages import explain_validation
from incrowd.errors import PolicyError
from incrowd.hierarchies.description import AttributePolicy, PolicyPart
from incrowd.methods.options import MethodOptions
from incrowd.methods.registry import DEFAULT_METHOD, METHOD_OPTIONS
from incrowd.policy._fit import check_fit
from incrowd.policy.linked import Attributes, PatientsPolicy, TablePolicy, check_tables, merged
from incrowd.policy.naming import completed, method_options, privacy_model, texts, unit_name
from incrowd.policy.reach import plain_source
from incrowd.privacy import PrivacyModel
from incrowd.sources.files import TextOptions
from incrowd.sources.plain_paths import plain_path

Publish = Literal["generalized", "anatomy", "lossy-join"]
"""How a release is published: one table of records, or sensitive values apart, by group."""

_ABSENT: dict[str, AttributePolicy] = {}
"""The attributes of a policy that names none at the top."""


class HospitalsPolicy(PolicyPart):
    """Whom hospitals that publish together must trust, and what they open to one another."""

    trust: Literal["nobody", "honest"] = Field(
        default="nobody",
        description="whether every hospital is taken to be honest, and exact sums are opened",
    )
    protect: Literal["own", "joint"] | None = Field(
        default=None,
        description="what must be private without help: own records alone, or those of the others",
    )
    reveal: Literal["counts", "bits"] | None = Field(
        default=None,
        description="whether counts that decide on privacy are opened, or only that they suffice",
    )
    m: int | None = Field(
        default=None,
        ge=0,
        strict=True,
        description="privacy holds also without the records of any so many hospitals",
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.reveal == "counts" and self.trust != "honest":
            raise ValueError(
                "`reveal: counts` opens exact counts, which one dishonest hospital can use against "
                "the others. Leave it out, or add `trust: honest`"
            )
        if self.protect == "own" and (self.trust == "honest" or self.reveal == "bits"):
            raise ValueError(
                "`protect: own` stands alone: it trusts nobody and opens neither counts nor bits. "
                "Leave `trust: honest` and `reveal: bits` out, or `protect: own`"
            )
        if self.protect == "joint" and self.reveal == "counts":
            raise ValueError("`protect: joint` is judged under encryption. Leave `reveal` out")
        if self.level == "joint" and self.m == 0 and self.trust != "honest":
            raise ValueError(
                "`m: 0` promises nothing once a hospital takes its own records off. Say m: 1, or "
                "add `trust: honest`"
            )
        return self

    @property
    def level(self) -> Literal["own", "joint", "honest"]:
        """The level of protection: see docs/federation-security.md."""
        if self.reveal == "bits" or self.protect == "joint":
            return "joint"
        return "honest" if self.trust == "honest" else "own"

    @property
    def without(self) -> int:
        """How many hospitals may take their own records off; of no account for `own`."""
        return (0 if self.trust == "honest" else 1) if self.m is None else self.m


class ReportPolicy(PolicyPart):
    """What the report of a release is told beside the data."""

    sampling_fraction: float | None = Field(
        default=None,
        gt=0.0,
        le=1.0,
        strict=True,
        alias="sampling-fraction",
        description="the share of the population that the source holds, for the journalist's risk",
    )


class Policy(PolicyPart):
    """A whole job: what the attributes are, what is promised, how, and where it goes."""

    source: str | None = None
    query: str | None = None
    separator: str | None = None
    encoding: str | None = None
    header: bool | None = Field(
        default=None,
        strict=True,
        description="whether the first line of a text file has the names of its columns; when "
        "left out it must, and one that looks like a record is refused",
    )
    missing_values: Annotated[list[str] | None, BeforeValidator(texts)] = Field(
        default=None,
        min_length=1,
        alias="missing-values",
        description="cells of a text file that mean that a value is missing, as in [NA, '?']",
    )
    patients: PatientsPolicy | None = Field(
        default=None, description="the table of patients, where their events are in `tables:`"
    )
    tables: dict[str, TablePolicy] = Field(
        default_factory=dict, description="tables of events, by the names they are published under"
    )
    attributes: Attributes = Field(default_factory=lambda: _ABSENT, validate_default=True)
    other: Literal["drop", "keep"] | None = None
    unit: Annotated[str | None, BeforeValidator(unit_name)] = Field(
        default=None,
        description="who is protected: the identifier column that tells patients apart, or `row`",
    )
    most_events: int | None = Field(
        default=None,
        ge=1,
        strict=True,
        alias="most-events",
        description="of patients with more rows, so many are published, drawn at random",
    )
    privacy: list[Annotated[PrivacyModel, BeforeValidator(privacy_model)]] = Field(
        min_length=1, max_length=100
    )
    method: Annotated[MethodOptions, BeforeValidator(method_options)] = Field(
        default_factory=lambda: METHOD_OPTIONS[DEFAULT_METHOD]()
    )
    goal: Literal["general", "classification"] = "general"
    publish: Publish = "generalized"
    suppression: float = Field(default=0.0, ge=0.0, lt=1.0, strict=True)
    weights: Literal["correlation"] | None = None
    rule_base: float = Field(
        default=0.0, ge=0.0, strict=True, allow_inf_nan=False, alias="rule-base"
    )
    missing: Literal["value", "drop"] = "value"
    engine: Literal["auto", "memory", "duckdb", "spark"] = "auto"
    memory: str | None = Field(default=None, description="for records out of core, as in 4GB")
    spark: Annotated[dict[str, str], BeforeValidator(policy_properties)] = Field(
        default_factory=dict, description="sizes and numbers of Spark: {spark.driver.memory: 4g}"
    )
    hospitals: HospitalsPolicy = Field(default_factory=HospitalsPolicy)
    report: ReportPolicy = Field(default_factory=ReportPolicy)
    output: Annotated[str, AfterValidator(plain_path)] = "release"
    format: Literal["csv", "parquet"] = "csv"
    spreadsheet: Literal["escape"] | None = Field(
        default=None, description="escape cells of CSV files that a spreadsheet would run"
    )

    _base: Path = PrivateAttr(default=Path())
    _method_is_chosen: bool = PrivateAttr(default=False)

    @field_validator("attributes", mode="before")
    @classmethod
    def _named_by_texts(cls, value: object, info: ValidationInfo) -> object:
        if not isinstance(value, Mapping):
            return value
        alone = info.data.get("patients", 0) is None and not info.data.get("tables", 0)
        if not value and (value is not _ABSENT or alone):
            short = {"min_length": 1, "field_type": "Mapping"}
            raise PydanticCustomError("missing" if value is _ABSENT else "too_short", "", short)
        return {str(name): spec for name, spec in value.items()}

    @field_validator("memory", mode="after")
    @classmethod
    def _memory_in_bytes(cls, value: str | None) -> str | None:
        if value is not None:
            bytes_of(value)
        return value

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.source is not None:
            plain_source(self.source, self.query)
        if self.patients is not None or self.tables:
            check_tables(self)
            object.__setattr__(self, "attributes", merged(self))
            object.__setattr__(self, "unit", self.patients and self.patients.key)
        check_fit(self)
        return self

    @classmethod
    def from_mapping(cls, mapping: object, *, where: str = "policy", base: Path = Path()) -> Policy:
        """The policy that a mapping describes; every mistake is told with its place."""
        if not isinstance(mapping, Mapping):
            raise PolicyError(
                f"{where}: a policy is a mapping with the keys attributes and privacy, "
                f"not {_yaml_type(mapping)}."
            )
        try:
            policy = cls.model_validate(completed(mapping))
        except ValidationError as error:
            raise PolicyError(explain_validation(error, cls, where)) from None
        policy._base = base
        # The default without being asked needs no word.
        unasked = "method" not in mapping and policy.method.name != DEFAULT_METHOD
        policy._method_is_chosen = unasked or _names_auto(mapping.get("method"))
        return policy

    @classmethod
    def from_file(cls, path: str | Path) -> Policy:
        """The policy in a YAML file; files it names are relative to it."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            raise PolicyError(
                f"There is no policy file '{path}'. `incrowd init data.csv` writes one."
            ) from None
        except IsADirectoryError:
            raise PolicyError(f"'{path}' is a folder, not a policy file.") from None
        except (OSError, UnicodeDecodeError) as error:
            raise PolicyError(f"'{path}' cannot be read as text: {type(error).__name__}.") from None
        return cls.from_yaml(text, where=path.name, base=path.parent)

    @classmethod
    def from_yaml(cls, text: str, *, where: str = "policy", base: Path = Path()) -> Policy:
        """The policy in a YAML text."""
        try:
            mapping = load(text)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = f" at line {mark.line + 1}" if mark is not None else ""
            problem = getattr(error, "problem", None) or "not YAML"
            raise PolicyError(f"{where} is not a YAML file{line}: {problem}.") from None
        return cls.from_mapping(mapping, where=where, base=base)

    @property
    def remarks(self) -> list[str]:
        """What a person should know of a run on one source: of its method, and what is ignored."""
        told = self.method_remarks
        if self.hospitals != HospitalsPolicy():
            told.append("`hospitals:` is for `incrowd federation`; it changes nothing elsewhere.")
        if self.spark and self.engine in ("memory", "duckdb"):
            told.append(f"`spark:` is for `engine: spark`, not for {self.engine}.")
        return told

    @property
    def method_remarks(self) -> list[str]:
        """What a person should know of the method: why it was chosen, what it passes over."""
        told = []
        if self._method_is_chosen:
            told.append(f"method: auto took {self.method.name}, {self.method.reason}.")
        if self.goal == "classification" and not self.method.predicts:
            predicting = (name for name, each in METHOD_OPTIONS.items() if each.predicts)
            able = listed(predicting, quoted=False, last=" or ")
            told.append(
                f"{self.method.name} treats all attributes alike, so `goal: classification` "
                f"changes nothing; `method: {able}` keeps what predicts the target."
            )
        if self.suppression > 0 and not self.method.suppresses:
            told.append(f"{self.method.name} drops no record: `suppression:` changes nothing.")
        return told

    @property
    def text_options(self) -> TextOptions:
        """How the text files of the source are written."""
        return TextOptions(
            separator=self.separator,
            encoding=self.encoding,
            header=self.header,
            missing_values=self.missing_values,
        )

    def without_reading(self) -> Policy:
        """The same policy for a table, or tables, that were read already."""
        none = dict.fromkeys([*TextOptions.__annotations__, "query"])
        if self.patients is None:
            return self.model_copy(update=none)
        tables = {name: each.model_copy(update=none) for name, each in self.tables.items()}
        patients = self.patients.model_copy(update=none)
        return self.model_copy(update={"patients": patients, "tables": tables})

    @property
    def target(self) -> str | None:
        """The one attribute whose class analysts will predict; None without one, or with many."""
        targets = [name for name, a in self.attributes.items() if a.role == "target"]
        return targets[0] if len(targets) == 1 else None

    @property
    def predicted(self) -> str | None:
        """The target that a method keeps predictable; None where the goal is another."""
        return self.target if self.goal == "classification" else None

    @property
    def base(self) -> Path:
        """The folder of the policy file; the files that the policy names are relative to it."""
        return self._base

    @property
    def quasi(self) -> list[str]:
        """The names of the quasi-identifiers."""
        return [name for name, a in self.attributes.items() if a.role == "quasi"]

    @property
    def sensitive(self) -> list[str]:
        """The names of the sensitive attributes."""
        return [name for name, a in self.attributes.items() if a.role == "sensitive"]


def as_policy(policy: Policy | Mapping[str, Any] | str | Path) -> Policy:
    """The policy itself, or the one that a mapping or a file describes."""
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, Mapping):
        return Policy.from_mapping(policy)
    return Policy.from_file(policy)


def _names_auto(method: object) -> bool:
    return (method.get("name") if isinstance(method, Mapping) else method) == "auto"


def _yaml_type(value: object) -> str:
    names = {list: "a list", str: "a text", type(None): "empty"}
    return names.get(type(value), f"a {type(value).__name__}")
