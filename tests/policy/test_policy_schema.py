"""The JSON schema of a policy agrees with what is accepted and refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from incrowd._runtime.plain_yaml import load
from incrowd.errors import PolicyError
from incrowd.policy import Policy, json_schema

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
TYPES: dict[str, Any] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
}
ANNOTATIONS = {"examples", "title", "description", "default", "$schema", "$defs"}


def is_of_type(value: object, name: str) -> bool:
    if name in ("integer", "number"):
        whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        number = isinstance(value, float) if name == "number" else False
        return (whole or number) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def accepts(schema: dict[str, Any], value: Any, root: dict[str, Any]) -> bool:
    """A judge of the part of JSON Schema that the policy uses; unknown keywords are errors."""
    checks: dict[str, Callable[[Any], bool]] = {
        "$ref": lambda ref: accepts(root["$defs"][ref.removeprefix("#/$defs/")], value, root),
        "anyOf": lambda options: any(accepts(option, value, root) for option in options),
        "oneOf": lambda options: sum(accepts(option, value, root) for option in options) == 1,
        "const": lambda constant: value == constant,
        "enum": lambda legal: value in legal,
        "type": lambda names: any(
            is_of_type(value, name) for name in (names if isinstance(names, list) else [names])
        ),
        "required": lambda names: not isinstance(value, dict) or set(names) <= set(value),
        "properties": lambda parts: (
            not isinstance(value, dict)
            or all(accepts(parts[k], v, root) for k, v in value.items() if k in parts)
        ),
        "additionalProperties": lambda rest: (
            not isinstance(value, dict)
            or all(
                rest if isinstance(rest, bool) else accepts(rest, v, root)
                for k, v in value.items()
                if k not in schema.get("properties", {})
            )
        ),
        "propertyNames": lambda names: (
            not isinstance(value, dict) or all(accepts(names, each, root) for each in value)
        ),
        "pattern": lambda text: not isinstance(value, str) or re.search(text, value) is not None,
        "minProperties": lambda n: not isinstance(value, dict) or len(value) >= n,
        "maxProperties": lambda n: not isinstance(value, dict) or len(value) <= n,
        "items": lambda item: (
            not isinstance(value, list) or all(accepts(item, each, root) for each in value)
        ),
        "minItems": lambda n: not isinstance(value, list) or len(value) >= n,
        "maxItems": lambda n: not isinstance(value, list) or len(value) <= n,
        "minimum": lambda n: not isinstance(value, int | float) or value >= n,
        "maximum": lambda n: not isinstance(value, int | float) or value <= n,
        "exclusiveMinimum": lambda n: not isinstance(value, int | float) or value > n,
        "exclusiveMaximum": lambda n: not isinstance(value, int | float) or value < n,
    }
    return all(
        checks[keyword](content)
        for keyword, content in schema.items()
        if keyword not in ANNOTATIONS
    )


def schema_accepts(text: str) -> bool:
    schema = json.loads(json.dumps(json_schema()))
    return accepts(schema, load(text), schema)


def policy_accepts(text: str) -> bool:
    try:
        Policy.from_yaml(text)
    except PolicyError:
        return False
    return True


START = "attributes: {age: quasi, d: sensitive}\n"
PRIVACY = "privacy: [{k-anonymity: {k: 2}}]\n"
HIERARCHIES = [
    "auto",
    "dates",
    "age.csv",
    "null",
    "{auto: true}",
    "{file: age.csv}",
    "{mask: {length: 5}}",
    "{mask: {length: 5, direction: left}}",
    "{dates: [month]}",
    "{dates: all}",
    "{intervals: {start: 1, stop: 9.5, widths: [0.5, 1]}}",
    "{tree: {A: [1, 2.5, x], B: {C: [y]}}}",
    "{tree: [a, b]}",
]
LEGAL = [
    START + PRIVACY,
    *(
        f"attributes: {{age: {{role: quasi, hierarchy: {each}}}}}\n{PRIVACY}"
        for each in HIERARCHIES
    ),
    "attributes: {age: {role: quasi, order: [1, 2.5, x, true]}}\n" + PRIVACY,
    "attributes: {age: {role: quasi, type: date, format: '%d.%m.%Y'}}\n" + PRIVACY,
    "attributes: {age: {role: quasi, weight: 2, rules: [{apart: [64, 65.5], importance: 2}]}}\n"
    + PRIVACY
    + "rule-base: 5",
    "attributes: {age: {role: quasi, rules: [{apart: [a, true]}]}}\n" + PRIVACY,
    START + PRIVACY + "weights: correlation\nmethod: {name: research-value, search: hybrid}",
    START + "privacy: [{l-diversity: {l: 2}}]",
    START + "privacy: [{l-diversity: {l: 2, kind: recursive, c: 3.5, sensitive: d}}]",
    START + "privacy: [{t-closeness: {t: 0.2, distance: ordered}}, {p-sensitive: {p: 2, k: 3}}]",
    START
    + "privacy: [{alpha-k: {alpha: 0.5, k: 2}}, {confidence-bounding: {C: 0.9, values: [1, a]}}]",
    START + "privacy: [{lkc: {L: 2, K: 3, C: 0.5, values: [1, a]}}, {lkc: {L: 2, K: 2}}]",
    "attributes: {age: quasi, ill: target}\n" + PRIVACY + "goal: classification",
    START + "privacy: [{multi-sensitive: {k: 2, l: 3, sensitive: [d], limits: {d: 2}}}]",
    START + "privacy: [{multi-sensitive: {k: 2, l: 3, check: greedy}}, {exponential-l: {l: 2}}]",
    START + "privacy: [{l-alpha-diversity: {l: 2, alpha: 1, categories: [[a, 1], [2.5, true]]}}]",
    START + "privacy: [{l-alpha-diversity: {l: 2.5, alpha: 0, kind: entropy, weights: uniform, "
    "categories: {level: 1, order: [A, 1]}}}]",
    START + "privacy: [{l-alpha-diversity: {l: 2, alpha: 1.5, kind: recursive, c: 2, "
    "weights: {sensitivity: 1.5}, categories: [[a], []]}}]",
    START + "privacy: [{delta-disclosure: {delta: 2}}, {beta-likeness: {beta: 1}}]",
    START + "privacy: [{beta-likeness: {beta: 0.5, kind: enhanced, sensitive: d}}]",
    START + PRIVACY + "method: top-down-specialization",
    START + PRIVACY + "method: {name: top-down-specialization, search: greedy}",
    START + PRIVACY + "publish: anatomy",
    START + PRIVACY + "publish: anatomy\nmethod: {name: anatomize, l: 3}",
    START + PRIVACY + "method: auto",
    START + PRIVACY + "method: mondrian",
    START + PRIVACY + "method: {name: mondrian, split: median, labels: hierarchy}",
    START + PRIVACY + "method: {name: auto}",
    START + PRIVACY + "source: a.csv\nquery: select 1\nseparator: ';'\nencoding: latin-1\n"
    "other: drop\ngoal: general\npublish: generalized\nsuppression: 0.02\nmissing: drop\n"
    "output: out\nformat: parquet",
    START + PRIVACY + "engine: spark\nspark: {spark.master: 'local[2]', spark.cores.max: 4, "
    "spark.sql.adaptive.enabled: false}",
]
BROKEN = [
    PRIVACY,
    START,
    "attributes: {}\n" + PRIVACY,
    "attributes: [age]\n" + PRIVACY,
    "attributes: {age: quazi}\n" + PRIVACY,
    "attributes: {age: }\n" + PRIVACY,
    "attributes: {age: {type: numeric}}\n" + PRIVACY,
    "attributes: {age: {role: quasi, typ: numeric}}\n" + PRIVACY,
    "attributes: {age: {role: quasi, type: number}}\n" + PRIVACY,
    "attributes: {age: {role: quasi, order: low}}\n" + PRIVACY,
    "attributes: {age: {role: quasi, order: [a, null]}}\n" + PRIVACY,
    "attributes: {age: {role: quasi, hierarchy: 5}}\n" + PRIVACY,
    "attributes: {age: {role: quasi, hierarchy: {}}}\n" + PRIVACY,
    "attributes: {age: {role: quasi, hierarchy: {auto: true, file: a.csv}}}\n" + PRIVACY,
    "attributes: {age: {role: quasi, hierarchy: {mask: {length: 0}}}}\n" + PRIVACY,
    "attributes: {age: {role: quasi, hierarchy: {dates: [week]}}}\n" + PRIVACY,
    "attributes: {age: {role: quasi, hierarchy: {intervals: {start: 1, stop: 9, widths: []}}}}\n"
    + PRIVACY,
    "attributes: {age: {role: quasi, weight: 0}}\n" + PRIVACY,
    "attributes: {age: {role: quasi, rules: [{apart: [64]}]}}\n" + PRIVACY,
    "attributes: {age: {role: quasi, rules: [{apart: [1, 2, 3]}]}}\n" + PRIVACY,
    "attributes: {age: {role: quasi, rules: [{apart: [1, 2], importance: 0}]}}\n" + PRIVACY,
    START + PRIVACY + "rule-base: -1",
    START + PRIVACY + "weights: equal",
    START + PRIVACY + "method: {name: research-value, search: widest}",
    START + "privacy: []",
    START + "privacy: {k-anonymity: {k: 2}}",
    START + "privacy: [k-anonymity]",
    START + "privacy: [{k-anonymity: {k: 1}}]",
    START + "privacy: [{k-anonymity: {}}]",
    START + "privacy: [{k-anonymity: {k: 2, l: 2}}]",
    START + "privacy: [{k-anonymity: {k: 2}, t-closeness: {t: 0.1}}]",
    START + "privacy: [{lkc: {L: 2}}]",
    START + "privacy: [{t-closeness: {t: 0}}]",
    START + "privacy: [{confidence-bounding: {C: 0.5, values: HIV}}]",
    START + "privacy: [{l-alpha-diversity: {l: 2, alpha: 1}}]",
    START + "privacy: [{l-alpha-diversity: {l: 2, alpha: -1, categories: [[a], [b]]}}]",
    START + "privacy: [{l-alpha-diversity: {l: 2, alpha: 1, categories: [a, b]}}]",
    START + "privacy: [{l-alpha-diversity: {l: 2, alpha: 1, categories: [[a, b]]}}]",
    START + "privacy: [{l-alpha-diversity: {l: 2, alpha: 1, categories: [[a], [null]]}}]",
    START + "privacy: [{l-alpha-diversity: {l: 2, alpha: 1, categories: {level: 1}}}]",
    START + "privacy: [{l-alpha-diversity: {l: 2, alpha: 1, categories: {level: 0, order: [a, b]}}}"
    "]",
    START + "privacy: [{l-alpha-diversity: {l: 2, alpha: 1, kind: frequency, categories: "
    "[[a], [b]]}}]",
    START + "privacy: [{l-alpha-diversity: {l: 2, alpha: 1, categories: [[a], [b]], weights: beta}"
    "}]",
    START + "privacy: [{l-alpha-diversity: {l: 2, alpha: 1, categories: [[a], [b]], weights: "
    "{sensitivity: 0.5}}}]",
    START + "privacy: [{delta-disclosure: {delta: 0}}]",
    START + "privacy: [{beta-likeness: {beta: 1, kind: best}}]",
    START + PRIVACY + "method: datafly",
    START + PRIVACY + "method: {split: loss}",
    START + PRIVACY + "method: {name: mondrian, splt: loss}",
    START + PRIVACY + "base: /tmp",
    START + PRIVACY + "sorce: x",
    START + PRIVACY + "suppression: x",
    START + PRIVACY + "suppression: 1",
    START + PRIVACY + "publish: raw",
    START + PRIVACY + "engine: hadoop",
    START + PRIVACY + "spark: local",
    START + PRIVACY + "spark: {master: local}",
    START + PRIVACY + "spark: {spark.master: [local]}",
]


@pytest.mark.parametrize("text", LEGAL)
def test_what_a_policy_may_say_fits_the_schema(text: str) -> None:
    assert policy_accepts(text)
    assert schema_accepts(text)


@pytest.mark.parametrize("text", BROKEN)
def test_what_a_policy_must_not_say_does_not_fit_the_schema(text: str) -> None:
    assert not policy_accepts(text)
    assert not schema_accepts(text)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_fit(path: Path) -> None:
    assert Policy.from_file(path).quasi
    assert schema_accepts(path.read_text(encoding="utf-8"))


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 2


def test_the_schema_is_plain_json_and_always_the_same() -> None:
    schema = json_schema()
    assert json.loads(json.dumps(schema)) == schema
    assert json_schema() == schema
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == "incrowd policy"
    assert schema["required"] == ["privacy"]
    assert schema["oneOf"] == [{"required": ["attributes"]}, {"required": ["patients", "tables"]}]


def test_the_schema_shows_nothing_internal() -> None:
    schema = json_schema()
    fields = Policy.model_fields.items()
    assert set(schema["properties"]) == {field.alias or name for name, field in fields}
    assert "base" not in Policy.model_json_schema()["properties"]
    parts = {
        "AttributePolicy", "FirstEvent", "HierarchyPolicy", "HospitalsPolicy", "Intervals", "Mask",
        "PatientsPolicy", "ReportPolicy", "RulePolicy", "TablePolicy", "TimePolicy",
    }  # fmt: skip
    assert set(schema["$defs"]) == parts
    assert "_base" not in json.dumps(schema)


def test_every_reference_is_defined() -> None:
    schema = json_schema()

    def references(node: Any) -> list[str]:
        if isinstance(node, dict):
            return [
                *([node["$ref"]] if "$ref" in node else []),
                *(found for each in node.values() for found in references(each)),
            ]
        return (
            [found for each in node for found in references(each)] if isinstance(node, list) else []
        )

    found = references(schema)
    assert found
    assert all(each.removeprefix("#/$defs/") in schema["$defs"] for each in found)
