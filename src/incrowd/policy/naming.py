"""What a policy names by short words: roles, privacy models with their parameters, a method."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, get_args

from pydantic import ValidationError

from incrowd._runtime.plain_yaml import as_text
from incrowd._runtime.validation_messages import explain_validation
from incrowd.errors import ParameterError, nearest
from incrowd.methods.options import MethodOptions
from incrowd.methods.registry import DEFAULT_METHOD, METHOD_OPTIONS
from incrowd.privacy import MODELS, KAnonymity, PrivacyModel
from incrowd.privacy.parameters import Means
from incrowd.table import Role
from incrowd.table.profiles import of_table

_MOST = 10**15
"""No table has so many records; larger numbers do not fit into the loops that count."""


def attribute(spec: object) -> object:
    """The long form of an attribute: `quasi` stands for `{role: quasi}`."""
    if isinstance(spec, str):
        return {"role": spec}
    if spec is None or isinstance(spec, list | int | float):
        raise ValueError(
            f"an attribute needs a role, one of {', '.join(get_args(Role))}, or a mapping with "
            "`role:`"
        )
    return spec


def completed(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    """The policy with the method chosen, and the sensitive attribute where a model leaves it open.

    A model of several takes all sensitive attributes, any other the one there is; where there are
    more, the model itself asks for it.
    """
    whole = with_method({str(key): value for key, value in mapping.items()})
    attributes, privacy = attributes_of(whole), whole.get("privacy")
    if attributes is None or not isinstance(privacy, list):
        return whole
    sensitive = [
        str(name)
        for name, spec in attributes.items()
        if (spec.get("role") if isinstance(spec, Mapping) else spec) == "sensitive"
    ]
    of_events = {
        str(name)
        for name, spec in attributes.items()
        if isinstance(spec, Mapping) and spec.get("level") == "event"
    }
    return {**whole, "privacy": [_filled(item, sensitive, of_events) for item in privacy]}


def attributes_of(mapping: Mapping[str, Any]) -> Mapping[Any, Any] | None:
    """The attributes of a policy that is not validated yet; those of tables as `table.column`."""
    patients, tables = mapping.get("patients"), mapping.get("tables")
    if not isinstance(patients, Mapping) or not isinstance(tables, Mapping):
        return _listed(mapping)
    found = dict(_listed(patients) or {})
    for name, table in tables.items():
        for column, spec in (_listed(table) or {}).items():
            long = dict(spec) if isinstance(spec, Mapping) else {"role": spec}
            found[of_table(str(name), str(column))] = {**long, "level": "event"}
    return found


def _listed(table: object) -> Mapping[Any, Any] | None:
    listed_there = table.get("attributes") if isinstance(table, Mapping) else None
    return listed_there if isinstance(listed_there, Mapping) else None


def with_method(mapping: dict[str, Any]) -> dict[str, Any]:
    """The policy with a name in the place of `method: auto`, or of no method at all.

    The first of incrowd's own that says that it suits the policy, whatever other packages there
    are; the default keeps most information in all other cases.
    """
    method = mapping.get("method", "auto")
    options = dict(method) if isinstance(method, Mapping) else {"name": method}
    if options.get("name") != "auto":
        return mapping
    privacy = mapping.get("privacy")
    models = (
        {name for each in privacy if isinstance(each, Mapping) for name in each}
        if isinstance(privacy, list)
        else set()
    )
    partial = any(name in MODELS and MODELS[name].partial for name in models)
    classification = mapping.get("goal") == "classification"
    events = _knows_events(mapping)
    options["name"] = next(
        (
            name
            for name, each in METHOD_OPTIONS.own.items()
            if each.knows_events == events
            and (events or each.suits(partial=partial, classification=classification))
        ),
        DEFAULT_METHOD,
    )
    return {**mapping, "method": options}


def _knows_events(mapping: Mapping[str, Any]) -> bool:
    """Whether an attribute of events is one that attackers may know."""
    return any(
        isinstance(spec, Mapping) and spec.get("role") == "quasi" and spec.get("level") == "event"
        for spec in (attributes_of(mapping) or {}).values()
    )


def privacy_model(item: object) -> PrivacyModel:
    """The model that one entry of `privacy:` names, with its parameters."""
    if isinstance(item, PrivacyModel):
        return item
    if not isinstance(item, Mapping) or len(item) != 1:
        example = f"- {KAnonymity.name}: {{k: 5}}"
        raise ValueError(f"must be one model with its parameters, as in `{example}`")
    ((name, parameters),) = item.items()
    model = MODELS.get(str(name))
    if model is None:
        raise ValueError(
            f"there is no privacy model '{name}'.{nearest(str(name), MODELS)} "
            f"Allowed: {', '.join(MODELS)}"
        )
    if not isinstance(parameters, Mapping):
        raise ValueError(f"{name} needs its parameters, as in `{name}: {{…}}`")
    for key, each in parameters.items():
        if isinstance(each, int) and abs(each) > _MOST:
            raise ValueError(f"{name}: {key} is larger than any table; at most {_MOST:,}")
    try:
        means = model.means()
        return model(**{k: _texts_in(means.get(k), each) for k, each in _named(parameters)})
    except ParameterError as error:
        raise ValueError(str(error)) from None


def method_options(value: object) -> MethodOptions:
    """The options of the method that `method:` names."""
    if isinstance(value, MethodOptions):
        return value
    options = {str(key): each for key, each in value.items()} if isinstance(value, Mapping) else {}
    name = options.pop("name", None) if isinstance(value, Mapping) else value
    if not isinstance(name, str):
        example = f"method: {{name: {DEFAULT_METHOD}}}"
        raise ValueError(f"must be a name, or a mapping with one, as in `{example}`")
    model = METHOD_OPTIONS.get(name)
    if model is None:
        raise ValueError(
            f"there is no method '{name}'.{nearest(name, METHOD_OPTIONS)} "
            f"Allowed: auto, {', '.join(METHOD_OPTIONS)}"
        )
    try:
        return model(**options)
    except ValidationError as error:
        raise ValueError(explain_validation(error, model, name)) from None


def texts(value: object) -> object:
    """A list of values of cells as texts, also those that YAML reads as numbers; or one alone."""
    if isinstance(value, list):
        return [as_text(each) for each in value]
    return value if value is None else [as_text(value)]


def _filled(item: object, sensitive: list[str], of_events: Collection[str]) -> object:
    if not isinstance(item, Mapping) or len(item) != 1:
        return item
    ((name, parameters),) = item.items()
    model = MODELS.get(str(name))
    if model is None or not isinstance(parameters, Mapping):
        return item
    if "sensitive" not in model.model_fields or "sensitive" in parameters or not sensitive:
        return item
    if model.takes_several:
        return {name: {**parameters, "sensitive": sensitive}}
    needed = model.model_fields["sensitive"].is_required()
    if not needed and not model.over_events and sensitive[0] in of_events:
        return item  # sizes alone are promised, of patients
    return {name: {**parameters, "sensitive": sensitive[0]}} if len(sensitive) == 1 else item


def _texts_in(means: Means | None, value: object) -> object:
    """Attributes and their values are texts, also those that YAML reads as numbers."""
    if means is Means.COLUMNS:
        return _texts_of(value) if isinstance(value, list) else as_text(value)
    if means is None or not means.lists_values:
        return value
    if isinstance(value, Mapping):  # a level, and the order of its labels
        return {name: _texts_of(each) for name, each in _named(value)}
    return _texts_of(value)


def _texts_of(value: object) -> object:
    """Lists of values, at any depth, as texts; anything else as it is."""
    if not isinstance(value, list):
        return value
    return [_texts_of(each) if isinstance(each, list) else as_text(each) for each in value]


def _named(mapping: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    return [(str(key), each) for key, each in mapping.items()]


def unit_name(value: object) -> object:
    """The unit as a text: `row`, or the name of a column, which YAML may read as a number."""
    if isinstance(value, list | Mapping):
        raise ValueError("must be `row`, or the name of one identifier column, as in `unit: id`")
    return None if value is None else as_text(value)
