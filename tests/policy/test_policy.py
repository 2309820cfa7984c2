"""Policies: the YAML of the design, its short forms, and every mistake with its place."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from pydantic import ValidationError

from incrowd.errors import PolicyError
from incrowd.methods.mondrian import MondrianOptions
from incrowd.methods.top_down_specialization import TopDownSpecializationOptions
from incrowd.policy import Policy
from incrowd.privacy import (
    LKC,
    AlphaK,
    BetaLikeness,
    ConfidenceBounding,
    DeltaDisclosure,
    KAnonymity,
    LAlphaDiversity,
    LDiversity,
    MultiSensitive,
    PSensitive,
    TCloseness,
)

DESIGN = """
source: surgeries.csv                 # csv, tsv, parquet; or a database URL with `query:`
attributes:
  id: identifier                      # never published
  job:
    role: quasi
    hierarchy: job.csv
  sex: quasi
  age:
    role: quasi
    type: numeric
    hierarchy: {intervals: {start: 1, stop: 99, widths: [5, 10, 30]}}
  zip:
    role: quasi
    hierarchy: {mask: {length: 5}}
  surgery: sensitive
  transfuse: target
  ward: keep
privacy:
  - k-anonymity: {k: 5}
  - confidence-bounding: {C: 0.5, sensitive: surgery, values: [Transgender]}
method: mondrian
goal: classification
publish: generalized
suppression: 0.02
output: release
"""
START = "attributes: {age: quasi, sex: quasi, disease: sensitive, ward: keep}\n"
PRIVACY = "privacy: [{k-anonymity: {k: 2}}]\n"


def with_attribute(spec: str) -> str:
    return f"attributes: {{age: {spec}, sex: quasi, disease: sensitive}}\n{PRIVACY}"


def with_privacy(entry: str) -> str:
    return f"{START}privacy: [{entry}]\n"


def with_setting(setting: str) -> str:
    return START + PRIVACY + setting


# legal policies


def test_the_policy_of_the_design() -> None:
    policy = Policy.from_yaml(DESIGN)
    assert policy.source == "surgeries.csv"
    assert {name: each.role for name, each in policy.attributes.items()} == {
        "id": "identifier",
        "job": "quasi",
        "sex": "quasi",
        "age": "quasi",
        "zip": "quasi",
        "surgery": "sensitive",
        "transfuse": "target",
        "ward": "keep",
    }
    assert policy.quasi == ["job", "sex", "age", "zip"]
    assert policy.sensitive == ["surgery"]
    hierarchies = {name: each.hierarchy for name, each in policy.attributes.items()}
    assert hierarchies["job"] is not None
    assert hierarchies["job"].file == "job.csv"
    assert hierarchies["sex"] is None
    assert hierarchies["age"] is not None
    assert hierarchies["age"].intervals is not None
    assert hierarchies["age"].intervals.widths == [5, 10, 30]
    assert hierarchies["zip"] is not None
    assert hierarchies["zip"].mask is not None
    assert (hierarchies["zip"].mask.length, hierarchies["zip"].mask.direction) == (5, "right")
    assert policy.attributes["age"].type == "numeric"
    assert policy.privacy == [
        KAnonymity(k=5),
        ConfidenceBounding(C=0.5, sensitive="surgery", values=["Transgender"]),
    ]
    assert policy.method == MondrianOptions()
    assert policy.goal == "classification"
    assert policy.suppression == 0.02
    assert policy.output == "release"


def test_what_is_left_out_has_a_default() -> None:
    policy = Policy.from_yaml(START + PRIVACY)
    assert policy.source is policy.query is policy.separator is policy.encoding is None
    assert policy.other is None
    assert policy.method == MondrianOptions(split="loss", labels="set")
    assert (policy.goal, policy.publish, policy.missing) == ("general", "generalized", "value")
    assert policy.suppression == 0.0
    assert (policy.output, policy.format) == ("release", "csv")
    assert policy.base == Path()


def test_short_and_long_forms_mean_the_same() -> None:
    short = Policy.from_yaml(
        "attributes: {a: quasi, b: {role: quasi, hierarchy: auto},"
        " c: {role: quasi, hierarchy: h.csv}, d: {role: quasi, hierarchy: dates}}\n"
        "privacy: [{k-anonymity: {k: 2}}]\nmethod: mondrian"
    )
    long = Policy.from_yaml(
        "attributes:\n  a: {role: quasi}\n  b: {role: quasi, hierarchy: {auto: true}}\n"
        "  c: {role: quasi, hierarchy: {file: h.csv}}\n"
        "  d: {role: quasi, hierarchy: {dates: [month, quarter, year, decade]}}\n"
        "privacy:\n  - k-anonymity:\n      k: 2\nmethod: {name: mondrian}"
    )
    assert short == long


@pytest.mark.parametrize(
    ("entry", "model"),
    [
        ("k-anonymity: {k: 5}", KAnonymity(k=5)),
        ("l-diversity: {l: 3, sensitive: disease}", LDiversity(l=3, sensitive="disease")),
        (
            "l-diversity: {l: 3, kind: recursive, c: 4}",
            LDiversity(l=3, kind="recursive", c=4, sensitive="disease"),
        ),
        (
            "l-diversity: {l: 2.5, kind: entropy}",
            LDiversity(l=2.5, kind="entropy", sensitive="disease"),
        ),
        ("t-closeness: {t: 0.2}", TCloseness(t=0.2, sensitive="disease")),
        ("t-closeness: {t: 0.9}", TCloseness(t=0.9, sensitive="disease")),
        ("p-sensitive: {p: 2, k: 5}", PSensitive(p=2, k=5, sensitive="disease")),
        ("alpha-k: {alpha: 0.5, k: 5}", AlphaK(alpha=0.5, k=5, sensitive="disease")),
        (
            "confidence-bounding: {C: 0.5, values: [HIV]}",
            ConfidenceBounding(C=0.5, sensitive="disease", values=["HIV"]),
        ),
        ("lkc: {L: 2, K: 5}", LKC(L=2, K=5, C=1.0, sensitive="disease")),
        (
            "lkc: {L: 4, K: 20, C: 0.2, values: [HIV]}",
            LKC(L=4, K=20, C=0.2, sensitive="disease", values=["HIV"]),
        ),
        (
            "l-alpha-diversity: {l: 3, alpha: 2, categories: [[HIV, 042], [250.10, 7], ['']]}",
            LAlphaDiversity(
                l=3,
                alpha=2,
                sensitive="disease",
                categories=[["HIV", "042"], ["250.10", "7"], [""]],
            ),
        ),
        (
            "l-alpha-diversity: {l: 2, alpha: 0.5, kind: recursive, c: 3, weights: {sensitivity: "
            "2}, categories: {level: 1, order: [1, no]}}",
            LAlphaDiversity(
                l=2,
                alpha=0.5,
                kind="recursive",
                c=3,
                sensitive="disease",
                categories={"level": 1, "order": ["1", "no"]},  # type: ignore[arg-type]
                weights={"sensitivity": 2},  # type: ignore[arg-type]
            ),
        ),
        ("delta-disclosure: {delta: 1}", DeltaDisclosure(delta=1, sensitive="disease")),
        ("beta-likeness: {beta: 0.5}", BetaLikeness(beta=0.5, sensitive="disease")),
        (
            "beta-likeness: {beta: 2, kind: enhanced}",
            BetaLikeness(beta=2, kind="enhanced", sensitive="disease"),
        ),
    ],
)
def test_every_model_and_the_only_sensitive_attribute_filled_in(entry: str, model: Any) -> None:
    assert Policy.from_yaml(with_privacy("{" + entry + "}")).privacy == [model]


def test_a_target_may_be_protected_too() -> None:
    text = "attributes: {age: quasi, d: target}\nprivacy: [{l-diversity: {l: 2, sensitive: d}}]"
    assert Policy.from_yaml(text).privacy == [LDiversity(l=2, sensitive="d")]


@pytest.mark.parametrize(
    ("listed", "values"),
    [
        ("[1, 2]", ["1", "2"]),
        ("[250.10, 250.1]", ["250.10", "250.1"]),
        ("[true, no]", ["true", "no"]),
        ("[007, 2020-01-01]", ["007", "2020-01-01"]),
    ],
)
def test_listed_values_are_texts_as_written(listed: str, values: list[str]) -> None:
    text = with_privacy(f"{{confidence-bounding: {{C: 0.5, values: {listed}}}}}")
    assert Policy.from_yaml(text).privacy == [
        ConfidenceBounding(C=0.5, sensitive="disease", values=values)
    ]
    ordered = Policy.from_yaml(with_attribute(f"{{role: quasi, order: {listed}}}"))
    assert ordered.attributes["age"].order == values
    tree = Policy.from_yaml(
        with_attribute(f"{{role: quasi, hierarchy: {{tree: {{A: {listed}}}}}}}")
    )
    assert tree.attributes["age"].hierarchy is not None
    assert tree.attributes["age"].hierarchy.tree == {"A": values}


def test_names_that_yaml_would_change_stay_as_written() -> None:
    text = (
        "attributes: {2020: quasi, 012345: quasi, yes: keep, 1.50: keep, true: keep, null: keep,"
        " 2020-01-01: keep, 7: sensitive}\nprivacy: [{l-diversity: {l: 2, sensitive: 7}}]"
    )
    policy = Policy.from_yaml(text)
    assert list(policy.attributes) == [
        "2020", "012345", "yes", "1.50", "true", "null", "2020-01-01", "7",
    ]  # fmt: skip
    assert policy.privacy == [LDiversity(l=2, sensitive="7")]
    filled = Policy.from_yaml(text.replace(", sensitive: 7", ""))
    assert filled == policy


def test_trees_may_have_numbers_as_labels() -> None:
    text = with_attribute("{role: quasi, hierarchy: {tree: {30: {2.50: [31]}, true: [x]}}}")
    hierarchy = Policy.from_yaml(text).attributes["age"].hierarchy
    assert hierarchy is not None
    assert hierarchy.tree == {"30": {"2.50": ["31"]}, "true": ["x"]}


@pytest.mark.parametrize("setting", ["method: auto", "method: {name: auto}", "method: mondrian"])
def test_auto_picks_mondrian(setting: str) -> None:
    assert Policy.from_yaml(with_setting(setting)).method == MondrianOptions()


BY_CLASS = "attributes: {age: quasi, disease: sensitive, transfused: target}\n"
LIMITED = "privacy: [{lkc: {L: 2, K: 5, C: 0.5}}]\n"


@pytest.mark.parametrize(
    "text",
    [
        START + LIMITED,
        START + LIMITED + "method: auto",
        BY_CLASS + PRIVACY + "goal: classification",
        BY_CLASS + PRIVACY + "goal: classification\nmethod: {name: auto}",
        BY_CLASS + LIMITED + "goal: classification",
    ],
)
def test_auto_picks_top_down_specialization_for_lkc_and_for_classes(text: str) -> None:
    policy = Policy.from_yaml(text)
    assert policy.method == TopDownSpecializationOptions(search="best")
    assert "auto took top-down-specialization" in policy.remarks[0]


def test_a_goal_that_mondrian_passes_over_is_told() -> None:
    policy = Policy.from_yaml(BY_CLASS + PRIVACY + "goal: classification\nmethod: mondrian")
    (remark,) = policy.remarks
    assert "top-down-specialization" in remark
    assert Policy.from_yaml(START + PRIVACY + "method: mondrian").remarks == []


def test_a_limit_that_top_down_specialization_passes_over_is_told() -> None:
    (chosen, remark) = Policy.from_yaml(START + LIMITED + "suppression: 0.1").remarks
    assert "auto took top-down-specialization" in chosen
    assert "`suppression:` changes nothing" in remark


def test_the_target_is_the_one_attribute_of_that_role() -> None:
    assert Policy.from_yaml(BY_CLASS + PRIVACY).target == "transfused"
    assert Policy.from_yaml(START + PRIVACY).target is None
    two = "attributes: {age: quasi, a: target, b: target}\n"
    assert Policy.from_yaml(two + PRIVACY).target is None


def test_models_of_several_attributes_take_all_that_are_sensitive() -> None:
    several = "attributes: {age: quasi, ill: sensitive, drug: sensitive, ward: keep}\n"
    asked = "privacy: [{multi-sensitive: {k: 2, l: 2}}, {exponential-l: {l: 2, sensitive: ill}}]"
    both, one = Policy.from_yaml(several + asked).privacy
    assert both == MultiSensitive(k=2, l=2, sensitive=["ill", "drug"], check="exact")
    assert one.sensitive_attributes == ("ill",)
    with pytest.raises(PolicyError, match="'sensitive' is missing"):
        Policy.from_yaml(several + "privacy: [{l-diversity: {l: 2}}]")


def test_lkc_takes_the_one_sensitive_attribute_and_needs_it_below_1() -> None:
    (model,) = Policy.from_yaml(START + LIMITED).privacy
    assert model.sensitive_attributes == ("disease",)
    alone = "attributes: {age: quasi, ward: keep}\n"
    assert Policy.from_yaml(alone + "privacy: [{lkc: {L: 2, K: 5}}]").privacy[0].bounds is not None
    with pytest.raises(PolicyError, match="C below 1 and `values:` need `sensitive:`"):
        Policy.from_yaml(alone + LIMITED)


def test_options_of_the_method() -> None:
    policy = Policy.from_yaml(
        with_setting("method: {name: mondrian, split: median, labels: hierarchy}")
    )
    assert policy.method == MondrianOptions(split="median", labels="hierarchy")


def test_a_policy_from_python() -> None:
    policy = Policy.from_mapping(
        MappingProxyType(
            {
                "attributes": MappingProxyType(
                    {"age": MappingProxyType({"role": "quasi"}), 7: "keep"}
                ),
                "privacy": [KAnonymity(k=3), MappingProxyType({"k-anonymity": {"k": 2}})],
                "method": MondrianOptions(split="median"),
            }
        )
    )
    assert list(policy.attributes) == ["age", "7"]
    assert policy.privacy == [KAnonymity(k=3), KAnonymity(k=2)]
    assert policy.method == MondrianOptions(split="median")


def test_a_policy_cannot_be_changed() -> None:
    policy = Policy.from_yaml(START + PRIVACY)
    with pytest.raises(ValidationError, match="frozen"):
        policy.suppression = 0.1


@pytest.mark.parametrize("date_format", ["%d.%m.%Y", "%Y%m%d", "%m/%d/%y", "%d %B %Y", "%Y-%m"])
def test_formats_of_dates(date_format: str) -> None:
    policy = Policy.from_yaml(with_attribute(f"{{role: quasi, format: '{date_format}'}}"))
    assert policy.attributes["age"].format == date_format


# files


def test_a_file_names_other_files_relative_to_itself(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text("\ufeff" + START + PRIVACY, encoding="utf-8")
    policy = Policy.from_file(path)
    assert policy.base == tmp_path
    assert Policy.from_file(str(path)).quasi == ["age", "sex"]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"no policy file '.*absent.yaml'.*incrowd init"):
        Policy.from_file(tmp_path / "absent.yaml")
    with pytest.raises(PolicyError, match="is a folder, not a policy file"):
        Policy.from_file(tmp_path)
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00\x01attributes")
    with pytest.raises(PolicyError, match="cannot be read as text"):
        Policy.from_file(binary)


def test_a_mistake_in_a_file_is_told_with_the_name_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(START + "privcy: []\n" + PRIVACY)
    with pytest.raises(
        PolicyError, match=r"^job.yaml: unknown key 'privcy'. Did you mean 'privacy'\?"
    ):
        Policy.from_file(path)
