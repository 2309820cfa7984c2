"""The JSON schema of a policy file: what validation takes, as editors are told it."""

from __future__ import annotations

from typing import Any

from incrowd._runtime.spark_properties import POLICY_PROPERTIES
from incrowd.methods.options import MethodOptions
from incrowd.methods.registry import METHOD_OPTIONS
from incrowd.policy._schema import Policy
from incrowd.privacy import MODELS, PrivacyModel
from incrowd.privacy.parameters import VALUE_SCHEMA

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema() -> dict[str, Any]:
    """The JSON schema of a policy file, for editors that complete and check YAML."""
    schema = Policy.model_json_schema()
    properties, parts = schema["properties"], schema["$defs"]
    properties["spark"] |= {
        "propertyNames": {"enum": list(POLICY_PROPERTIES)},
        "additionalProperties": VALUE_SCHEMA,
    }
    described, hierarchy = parts["AttributePolicy"], parts["HierarchyPolicy"]
    hierarchy |= {"minProperties": 1, "maxProperties": 1}
    hierarchy["properties"]["dates"]["anyOf"].append({"const": "all"})
    parts["FirstEvent"]["properties"]["value"] = VALUE_SCHEMA
    described["properties"]["order"]["anyOf"][0]["items"] = VALUE_SCHEMA
    parts["RulePolicy"]["properties"]["apart"]["items"] = VALUE_SCHEMA
    described["properties"]["hierarchy"]["anyOf"].insert(0, {"type": "string"})
    roles = described["properties"]["role"]
    listed_attributes = {"anyOf": [roles, {"$ref": "#/$defs/AttributePolicy"}]}
    properties["attributes"] |= {"additionalProperties": listed_attributes, "minProperties": 1}
    for part in ("PatientsPolicy", "TablePolicy"):
        parts[part]["properties"]["attributes"]["additionalProperties"] = listed_attributes
    schema["oneOf"] = [{"required": ["attributes"]}, {"required": ["patients", "tables"]}]
    properties["privacy"]["items"] = {
        "anyOf": [_model_schema(name, model) for name, model in MODELS.items()]
    }
    properties["method"] = {
        "anyOf": [
            {"enum": ["auto", *METHOD_OPTIONS]},
            *(_method_schema(name, options) for name, options in METHOD_OPTIONS.items()),
        ]
    }
    for internal in ("MethodOptions", "PrivacyModel"):
        parts.pop(internal, None)
    return {"$schema": _DIALECT, **schema, "title": "incrowd policy"}


def _model_schema(name: str, model: type[PrivacyModel]) -> dict[str, Any]:
    parameters = {**model.model_json_schema(), "description": model.summary}
    if model.takes_several:
        several = parameters["properties"]["sensitive"]
        parameters["properties"]["sensitive"] = {"anyOf": [{"type": "string"}, several]}
    for parameter in parameters["properties"].values():
        if "ge" in parameter:  # how pydantic writes the bound of a union
            parameter["minimum"] = parameter.pop("ge")
    # The sensitive attribute is filled in where there is only one.
    parameters["required"] = [each for each in parameters["required"] if each != "sensitive"]
    return {
        "type": "object",
        "properties": {name: parameters},
        "required": [name],
        "additionalProperties": False,
    }


def _method_schema(name: str, options: type[MethodOptions]) -> dict[str, Any]:
    schema = options.model_json_schema()
    schema["properties"] = {"name": {"enum": ["auto", name]}, **schema["properties"]}
    return {**schema, "required": ["name", *schema.get("required", [])]}
