"""Policy: the one validated description of a job, read from YAML or a mapping."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from incrowd.errors import ParameterError, PolicyError, nearest
from incrowd.hierarchies.computed import DATE_LEVELS
from incrowd.methods.options import METHOD_OPTIONS, MethodOptions
from incrowd.privacy import MODELS, PrivacyModel
from incrowd.table import Role
from incrowd.wording import explain_validation


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Intervals(_Part):
    """Nested half-open ranges; each width is a multiple of the one before."""

    start: float
    stop: float
    widths: list[float] = Field(min_length=1)


class Mask(_Part):
    """Characters masked one by one: 14248, 1424*, 142** …"""

    length: int = Field(ge=1)
    direction: Literal["right", "left"] = "right"


class HierarchyPolicy(_Part):
    """Where a hierarchy comes from; exactly one of the keys."""

    file: str | None = None
    tree: dict[str, Any] | list[Any] | None = None
    intervals: Intervals | None = None
    mask: Mask | None = None
    dates: list[Literal["month", "quarter", "year", "decade"]] | None = None
    auto: bool | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(getattr(self, name) is not None for name in type(self).model_fields) != 1:
            legal = ", ".join(type(self).model_fields)
            raise ValueError(f"a hierarchy has exactly one of {legal}")
        return self


class AttributePolicy(_Part):
    """One attribute: its role, its type, its hierarchy."""

    role: Role
    type: Literal["numeric", "category", "date", "ordered"] | None = None
    format: str | None = Field(default=None, description="how dates are written, as in %d.%m.%Y")
    order: list[str] | None = Field(default=None, description="the values of an ordered attribute")
    hierarchy: HierarchyPolicy | None = None

    @field_validator("hierarchy", mode="before")
    @classmethod
    def _short_hierarchy(cls, value: object) -> object:
        if value == "auto":
            return {"auto": True}
        if value == "dates" or (isinstance(value, Mapping) and value.get("dates") == "all"):
            return {"dates": list(DATE_LEVELS)}
        if isinstance(value, str):
            return {"file": value}
        return value

    @field_validator("order", mode="before")
    @classmethod
    def _texts(cls, value: object) -> object:
        return [str(each) for each in value] if isinstance(value, list) else value

    @model_validator(mode="after")
    def _order_fits(self) -> Self:
        if self.order is not None and self.type not in (None, "ordered"):
            raise ValueError(f"`order:` is for ordered attributes, this one is {self.type}")
        if self.type == "ordered" and self.order is None:
            raise ValueError("an ordered attribute needs `order:`, the list of its values")
        return self


class Policy(_Part):
    """A whole job: what the attributes are, what is promised, how, and where it goes."""

    source: str | None = None
    query: str | None = None
    separator: str | None = None
    encoding: str | None = None
    attributes: dict[str, AttributePolicy] = Field(min_length=1)
    other: Literal["drop", "keep"] | None = None
    privacy: list[PrivacyModel] = Field(min_length=1)
    method: MethodOptions = Field(default_factory=lambda: METHOD_OPTIONS["mondrian"]())
    goal: Literal["general", "classification"] = "general"
    publish: Literal["generalized"] = "generalized"
    suppression: float = Field(default=0.0, ge=0.0, lt=1.0)
    missing: Literal["value", "drop"] = "value"
    output: str = "release"
    format: Literal["csv", "parquet"] = "csv"
    seed: int = 0

    base: Path = Field(default=Path(), exclude=True)

    @field_validator("attributes", mode="before")
    @classmethod
    def _short_attributes(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        return {
            str(name): {"role": spec} if isinstance(spec, str) else spec
            for name, spec in value.items()
        }

    @field_validator("privacy", mode="before")
    @classmethod
    def _models(cls, value: object) -> object:
        return (
            [_privacy_model(i, item) for i, item in enumerate(value)]
            if isinstance(value, list)
            else value
        )

    @field_validator("method", mode="before")
    @classmethod
    def _method(cls, value: object) -> object:
        return _method_options(value)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not any(a.role == "quasi" for a in self.attributes.values()):
            raise ValueError(
                "no attribute has the role quasi. Name the columns an attacker may know of a "
                "person, such as age, sex and zip, with the role quasi"
            )
        for model in self.privacy:
            for name in model.sensitive_attributes:
                if name not in self.attributes:
                    raise ValueError(
                        f"privacy: {model.name} names '{name}', which is not among the "
                        f"attributes.{nearest(name, self.attributes)}"
                    )
                if self.attributes[name].role not in ("sensitive", "target"):
                    raise ValueError(
                        f"privacy: {model.name} protects '{name}', whose role is "
                        f"{self.attributes[name].role}; give it the role sensitive"
                    )
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
            return cls.model_validate({**_completed(mapping), "base": base})
        except ValidationError as error:
            raise PolicyError(explain_validation(error, cls, where)) from None
        except ParameterError as error:
            raise PolicyError(f"{where}: privacy: {error}") from None

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
            mapping = yaml.load(text, Loader=_PlainLoader)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = f" at line {mark.line + 1}" if mark is not None else ""
            problem = getattr(error, "problem", None) or "not YAML"
            raise PolicyError(f"{where} is not a YAML file{line}: {problem}.") from None
        return cls.from_mapping(mapping, where=where, base=base)

    @property
    def quasi(self) -> list[str]:
        """The names of the quasi-identifiers."""
        return [name for name, a in self.attributes.items() if a.role == "quasi"]

    @property
    def sensitive(self) -> list[str]:
        """The names of the sensitive attributes."""
        return [name for name, a in self.attributes.items() if a.role == "sensitive"]


def json_schema() -> dict[str, Any]:
    """The JSON schema of a policy file, for editors that complete and check YAML."""
    schema = Policy.model_json_schema()
    schema["title"] = "incrowd policy"
    properties = schema["properties"]
    properties.pop("base", None)
    attribute = schema["$defs"]["AttributePolicy"]
    attribute["properties"]["hierarchy"] = {
        "anyOf": [{"type": "string"}, {"$ref": "#/$defs/HierarchyPolicy"}]
    }
    roles = attribute["properties"]["role"]
    properties["attributes"] = {
        "type": "object",
        "minProperties": 1,
        "additionalProperties": {"anyOf": [roles, {"$ref": "#/$defs/AttributePolicy"}]},
    }
    properties["privacy"] = {
        "type": "array",
        "minItems": 1,
        "items": {"anyOf": [_named_schema(name, model) for name, model in MODELS.items()]},
    }
    properties["method"] = {
        "anyOf": [
            {"enum": ["auto", *METHOD_OPTIONS]},
            *(options.model_json_schema() for options in METHOD_OPTIONS.values()),
        ]
    }
    return schema


def _named_schema(name: str, model: type[PrivacyModel]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: model.model_json_schema()},
        "required": [name],
        "additionalProperties": False,
        "description": model.summary,
    }


def _completed(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    """The mapping with the sensitive attribute filled in where there is only one."""
    completed = {str(key): value for key, value in mapping.items()}
    attributes, privacy = completed.get("attributes"), completed.get("privacy")
    if not isinstance(attributes, Mapping) or not isinstance(privacy, list):
        return completed
    sensitive = [
        str(name)
        for name, spec in attributes.items()
        if (spec.get("role") if isinstance(spec, Mapping) else spec) == "sensitive"
    ]
    filled = []
    for item in privacy:
        if isinstance(item, Mapping) and len(item) == 1:
            ((name, parameters),) = item.items()
            model = MODELS.get(str(name))
            if (
                model is not None
                and isinstance(parameters, Mapping)
                and "sensitive" in model.model_fields
                and "sensitive" not in parameters
                and len(sensitive) == 1
            ):
                item = {name: {**parameters, "sensitive": sensitive[0]}}
        filled.append(item)
    return {**completed, "privacy": filled}


def _privacy_model(position: int, item: object) -> PrivacyModel:
    if isinstance(item, PrivacyModel):
        return item
    place = f"privacy[{position}]"
    if not isinstance(item, Mapping) or len(item) != 1:
        raise ValueError(
            f"{place} must be a model with its parameters, as in `- k-anonymity: {{k: 5}}`"
        )
    ((name, parameters),) = item.items()
    model = MODELS.get(str(name))
    if model is None:
        raise ValueError(
            f"{place}: there is no privacy model '{name}'.{nearest(str(name), MODELS)} "
            f"Allowed: {', '.join(MODELS)}"
        )
    if not isinstance(parameters, Mapping):
        raise ValueError(f"{place}: {name} needs its parameters, as in `{name}: {{…}}`")
    return model(**{str(key): _texts_in(key, value) for key, value in parameters.items()})


def _texts_in(key: object, value: object) -> object:
    """Values of an attribute are texts, also those that YAML reads as numbers."""
    if key == "values" and isinstance(value, list):
        return [str(each) for each in value]
    return value


def _method_options(value: object) -> object:
    if isinstance(value, MethodOptions):
        return value
    options: dict[str, Any] = {}
    name = value
    if isinstance(value, Mapping):
        options = {str(key): each for key, each in value.items()}
        name = options.pop("name", None)
        if name is None:
            raise ValueError("method needs a name, as in `method: {name: mondrian}`")
    if name == "auto":
        name = "mondrian"
    if name not in METHOD_OPTIONS:
        raise ValueError(
            f"there is no method '{name}'.{nearest(str(name), METHOD_OPTIONS)} "
            f"Allowed: auto, {', '.join(METHOD_OPTIONS)}"
        )
    model = METHOD_OPTIONS[str(name)]
    try:
        return model(**options)
    except ValidationError as error:
        raise ValueError(explain_validation(error, model, str(name))) from None


def _yaml_type(value: object) -> str:
    names = {list: "a list", str: "a text", type(None): "empty"}
    return names.get(type(value), f"a {type(value).__name__}")


class _PlainLoader(yaml.SafeLoader):
    """YAML without its traps: no octal numbers, no dates, yes and no are texts, keys are unique."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - filled just below

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)  # type: ignore[no-untyped-call]
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key '{key}' stands twice", key_node.start_mark
                )
            seen.add(key)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def _resolve_plainly() -> None:
    import re

    add = _PlainLoader.add_implicit_resolver
    add("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))
    add("tag:yaml.org,2002:null", re.compile(r"^(?:null|~|)$"), ["n", "~", ""])
    add("tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789"))
    add(
        "tag:yaml.org,2002:float",
        re.compile(r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$"),
        list("-+0123456789."),
    )


_resolve_plainly()
