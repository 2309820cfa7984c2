"""Mistakes in a policy: the place, what is wrong, what is allowed, the nearest name."""

from __future__ import annotations

import pytest

from incrowd.errors import PolicyError
from incrowd.policy import Policy
from incrowd.privacy import LDiversity

START = "attributes: {age: quasi, sex: quasi, disease: sensitive, ward: keep}\n"
PRIVACY = "privacy: [{k-anonymity: {k: 2}}]\n"


def with_attribute(spec: str) -> str:
    return f"attributes: {{age: {spec}, sex: quasi, disease: sensitive}}\n{PRIVACY}"


def with_privacy(entry: str) -> str:
    return f"{START}privacy: [{entry}]\n"


def with_setting(setting: str) -> str:
    return START + PRIVACY + setting


def refusal(text: str) -> str:
    """The message of a policy that must be refused; no other error may come out."""
    with pytest.raises(PolicyError) as caught:
        Policy.from_yaml(text, where="job.yaml")
    message = str(caught.value)
    assert all(line.startswith("job.yaml") for line in message.splitlines()), message
    assert all(line.endswith((".", "?")) for line in message.splitlines()), message
    return message


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "job.yaml: a policy is a mapping with the keys attributes and privacy, not empty."),
        ("# nothing here\n", "not empty."),
        ("- age\n- sex\n", "not a list."),
        ("just words", "not a text."),
        ("42", "not a int."),
        ("a: b: c", "job.yaml is not a YAML file at line 1: mapping values are not allowed here."),
        (START + "x: [1\n", "is not a YAML file at line"),
        (
            START + PRIVACY + START,
            "job.yaml is not a YAML file at line 3: the key 'attributes' stands",
        ),
        ("attributes:\n  age: quasi\n  age: keep\n", "at line 3: the key 'age' stands twice."),
        ("? [a]\n: b\n", "a key must be a text"),
        ("a: \x00", "job.yaml is not a YAML file"),
        (START + "seed: !!int abc", "job.yaml is not a YAML file"),
    ],
)
def test_what_is_not_a_policy(text: str, problem: str) -> None:
    assert problem in refusal(text)


# unknown keys: the place, the nearest name, what is allowed


@pytest.mark.parametrize(
    ("text", "place", "meant", "allowed"),
    [
        (
            with_setting("sorce: x"),
            "sorce",
            "source",
            "attributes, encoding, engine, format, goal, header, hospitals, memory, method,"
            " missing, missing-values, most-events, other, output, patients, privacy, publish,"
            " query, report, rule-base, separator, source, spark, spreadsheet, suppression, tables,"
            " unit, weights",
        ),
        (
            with_setting("base: /tmp"),
            "base",
            "rule-base",
            "attributes, encoding, engine, format, goal, header, hospitals, memory, method",
        ),
        (
            with_attribute("{role: quasi, typ: numeric}"),
            "attributes.age.typ",
            "type",
            "format, hierarchy, level, order, role, rules, take, time, type, weight",
        ),
        (
            with_attribute("{role: quasi, hierarchy: {interval: 3}}"),
            "attributes.age.hierarchy.interval",
            "intervals",
            "auto, dates, file, intervals, mask, tree",
        ),
        (
            with_attribute("{role: quasi, hierarchy: {mask: {lenght: 5}}}"),
            "attributes.age.hierarchy.mask.lenght",
            "length",
            "direction, length",
        ),
        (
            with_attribute(
                "{role: quasi, hierarchy: {intervals: {start: 1, end: 9, stop: 9, widths: [1]}}}"
            ),
            "attributes.age.hierarchy.intervals.end",
            None,
            "start, stop, widths",
        ),
        (with_privacy("{k-anonymity: {k: 5, kk: 2}}"), "kk", "k", "k"),
        (
            with_privacy("{l-diversity: {l: 2, sensitve: disease}}"),
            "sensitve",
            "sensitive",
            "c, kind, l, sensitive",
        ),
        (
            with_setting("method: {name: mondrian, spilt: loss}"),
            "spilt",
            "split",
            "labels, resist, split",
        ),
    ],
)
def test_an_unknown_key(text: str, place: str, meant: str | None, allowed: str) -> None:
    message = refusal(text)
    hint = f" Did you mean '{meant}'?" if meant else ""
    assert f"unknown key '{place}'.{hint} Allowed: {allowed}" in message


def test_the_place_is_right_where_a_column_is_named_like_a_key() -> None:
    text = "attributes: {hierarchy: {role: quasi, typ: numeric}, type: {rol: keep}}\n" + PRIVACY
    message = refusal(text)
    allowed = "Allowed: format, hierarchy, level, order, role, rules, take, time, type, weight."
    assert f"unknown key 'attributes.hierarchy.typ'. Did you mean 'type'? {allowed}" in message
    assert f"unknown key 'attributes.type.rol'. Did you mean 'role'? {allowed}" in message


def test_unknown_keys_of_models_name_the_model_and_its_place() -> None:
    text = START + "privacy: [{k-anonymity: {k: 2}}, {t-closeness: {t: 0.1, distanse: equal}}]"
    assert (
        "job.yaml: privacy[1]: t-closeness: unknown key 'distanse'. Did you mean 'distance'?"
        in refusal(text)
    )


def test_all_mistakes_are_told_at_once() -> None:
    text = (
        "attributes: {age: {role: quazi}, sex: {role: quasi, typ: x}}\nsorce: x\n"
        "privacy: [{k-anonymity: {k: 1}}, {l-diversity: {}}]\nmethod: {name: mondrian, a: 1, b: 2}"
    )
    message = refusal(text)
    places = ["attributes.age.role", "attributes.sex.typ", "sorce", "privacy[0]", "privacy[1]"]
    for place in [
        *places,
        "method: mondrian: unknown key 'a'",
        "method: mondrian: unknown key 'b'",
    ]:
        assert place in message
    assert len(message.splitlines()) == 8  # l-diversity lacks both l and sensitive


# wrong types and values


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (with_setting("source: 5"), "source must be a text, got 5."),
        (with_setting("suppression: lots"), "suppression must be a number, got 'lots'."),
        (with_setting("suppression: '0.1'"), "suppression must be a number, got '0.1'."),
        (with_setting("suppression: 1"), "suppression must be a number below 1, got 1."),
        (with_setting("suppression: -0.1"), "suppression must be a number at least 0, got -0.1."),
        (with_setting("suppression: 1e999"), "suppression must be a number below 1, got inf."),
        (
            with_setting("other: dropp"),
            "other must be one of drop, keep, got 'dropp'. Did you mean 'drop'?",
        ),
        (
            with_setting("goal: clasification"),
            "goal must be one of general, classification, got 'clasification'.",
        ),
        (
            with_setting("publish: anatomie"),
            "publish must be one of generalized, anatomy, lossy-join, got 'anatomie'. Did you mean "
            "'anatomy'?",
        ),
        (with_setting("format: xlsx"), "format must be one of csv, parquet, got 'xlsx'."),
        (
            with_setting("missing: match-any"),
            "missing must be one of value, drop, got 'match-any'.",
        ),
        ("privacy: [{k-anonymity: {k: 2}}]", "'attributes' is missing."),
        (START, "'privacy' is missing."),
        (
            "attributes: {}\n" + PRIVACY,
            "attributes must be a mapping with at least 1 entry, got {}.",
        ),
        (
            "attributes: [age]\n" + PRIVACY,
            "attributes must be a mapping of names to values, got ['age'].",
        ),
        (
            "attributes: age\n" + PRIVACY,
            "attributes must be a mapping of names to values, got 'age'.",
        ),
    ],
)
def test_a_wrong_setting(text: str, problem: str) -> None:
    assert f"job.yaml: {problem}" in refusal(text)


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (
            "quazi",
            "attributes.age.role must be one of identifier, quasi, sensitive, target, keep,"
            " got 'quazi'. Did you mean 'quasi'?",
        ),
        ("{type: numeric}", "'attributes.age.role' is missing."),
        (
            "",
            "attributes.age: an attribute needs a role, one of identifier, quasi, sensitive,",
        ),
        ("5", "attributes.age: an attribute needs a role"),
        ("true", "attributes.age: an attribute needs a role"),
        ("[quasi]", "attributes.age: an attribute needs a role"),
        ("{role: 5}", "attributes.age.role must be one of"),
        (
            "{role: quasi, type: numbers}",
            "attributes.age.type must be one of numeric, category, date,"
            " ordered, got 'numbers'. Did you mean 'numeric'?",
        ),
        ("{role: quasi, order: low}", "attributes.age.order must be a list, got 'low'."),
        ("{role: quasi, order: [a, null]}", "attributes.age.order[1] must be a text, got nothing."),
        ("{role: quasi, order: [a, [b]]}", "attributes.age.order[1] must be a text, got ['b']."),
        ("{role: quasi, order: [a, b, a]}", "attributes.age.order: a value stands twice"),
        ("{role: quasi, order: [1, '1']}", "attributes.age.order: a value stands twice"),
        (
            "{role: quasi, type: numeric, order: [a]}",
            "attributes.age: `order:` is for ordered attributes, this one is numeric.",
        ),
        ("{role: quasi, type: ordered}", "attributes.age: an ordered attribute needs `order:`"),
        (
            "{role: quasi, type: numeric, format: '%d.%m.%Y'}",
            "attributes.age: `format:` is for dates, this attribute is numeric.",
        ),
        (
            "{role: quasi, order: [a], format: '%Y'}",
            "`format:` is for dates, this attribute is ordered",
        ),
        (
            "{role: quasi, format: DD.MM.YYYY}",
            "attributes.age.format: 'DD.MM.YYYY' does not describe dates; write %d for the day",
        ),
        (
            "{role: quasi, format: '%d%d%Y'}",
            "attributes.age.format: '%d%d%Y' does not describe dates",
        ),
        ("{role: quasi, format: '%Q'}", "attributes.age.format: '%Q' does not describe dates"),
        ("{role: quasi, format: '%'}", "attributes.age.format: '%' does not describe dates"),
        ("{role: quasi, format: 5}", "attributes.age.format must be a text, got 5."),
    ],
)
def test_a_wrong_attribute(spec: str, problem: str) -> None:
    assert problem in refusal(with_attribute(spec))


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        (
            "5",
            "attributes.age.hierarchy: a hierarchy is the name of a file, `auto`, or one of file,",
        ),
        ("[a]", "attributes.age.hierarchy: a hierarchy is the name of a file"),
        (
            "{}",
            "attributes.age.hierarchy: a hierarchy has exactly one of file, tree, intervals, mask,"
            " dates, auto.",
        ),
        ("{auto: true, mask: {length: 5}}", "a hierarchy has exactly one of"),
        ("{dates: all, mask: {length: 5}}", "a hierarchy has exactly one of"),
        ("{file: 5}", "attributes.age.hierarchy.file must be a text, got 5."),
        ("{auto: yes}", "attributes.age.hierarchy.auto must be true or false, got 'yes'."),
        ("{auto: 1}", "attributes.age.hierarchy.auto must be true or false, got 1."),
        (
            "{tree: 5}",
            "attributes.age.hierarchy.tree: a tree is a mapping of labels to their values",
        ),
        ("{tree: Janitor}", "attributes.age.hierarchy.tree: a tree is a mapping of labels"),
        ("{mask: 5}", "attributes.age.hierarchy.mask must be a mapping of names to values, got 5."),
        ("{mask: {}}", "'attributes.age.hierarchy.mask.length' is missing."),
        (
            "{mask: {length: 0}}",
            "attributes.age.hierarchy.mask.length must be a whole number of at least 1, got 0.",
        ),
        (
            "{mask: {length: '5'}}",
            "attributes.age.hierarchy.mask.length must be a whole number, got",
        ),
        (
            "{mask: {length: 5, direction: rigth}}",
            "attributes.age.hierarchy.mask.direction must be one"
            " of right, left, got 'rigth'. Did you mean 'right'?",
        ),
        ("{dates: month}", "attributes.age.hierarchy.dates must be a list, got 'month'."),
        (
            "{dates: [month, yeer]}",
            "attributes.age.hierarchy.dates[1] must be one of month, quarter,"
            " year, decade, got 'yeer'. Did you mean 'year'?",
        ),
        (
            "{intervals: {start: 1, stop: 9}}",
            "'attributes.age.hierarchy.intervals.widths' is missing.",
        ),
        (
            "{intervals: {start: 1, stop: x, widths: [1]}}",
            "intervals.stop must be a number, got 'x'.",
        ),
        (
            "{intervals: {start: '1', stop: 9, widths: [1]}}",
            "intervals.start must be a number, got '1'.",
        ),
        (
            "{intervals: {start: 1e999, stop: 9, widths: [1]}}",
            "intervals.start must be a finite number",
        ),
        ("{intervals: {start: 1, stop: 9, widths: 5}}", "intervals.widths must be a list, got 5."),
        (
            "{intervals: {start: 1, stop: 9, widths: []}}",
            "intervals.widths must be a list with at least 1 entry, got [].",
        ),
        (
            "{intervals: {start: 1, stop: 9, widths: [1, x]}}",
            "intervals.widths[1] must be a number",
        ),
    ],
)
def test_a_wrong_hierarchy(spec: str, problem: str) -> None:
    assert problem in refusal(with_attribute(f"{{role: quasi, hierarchy: {spec}}}"))


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("k-anonymity", "privacy[0]: must be one model with its parameters, as in `- k-anonymity:"),
        ("5", "privacy[0]: must be one model"),
        ("", "privacy must be a list with at least 1 entry, got []."),
        ("{}", "privacy[0]: must be one model"),
        ("{k-anonymity: {k: 5}, t-closeness: {t: 0.1}}", "privacy[0]: must be one model"),
        ("{k-anonymity: 5}", "privacy[0]: k-anonymity needs its parameters"),
        ("{k-anonymity: }", "privacy[0]: k-anonymity needs its parameters"),
        (
            "{k-anonymty: {k: 5}}",
            "privacy[0]: there is no privacy model 'k-anonymty'. Did you mean"
            " 'k-anonymity'? Allowed: k-anonymity, l-diversity, t-closeness,",
        ),
        (
            "{differential: {e: 5}}",
            "privacy[0]: there is no privacy model 'differential'. Allowed:",
        ),
        ("{k-anonymity: {}}", "privacy[0]: k-anonymity: 'k' is missing."),
        (
            "{k-anonymity: {k: 1}}",
            "privacy[0]: k-anonymity: k must be a whole number of at least 2, got 1.",
        ),
        ("{k-anonymity: {k: 2.5}}", "privacy[0]: k-anonymity: k must be a whole number, got 2.5."),
        ("{k-anonymity: {k: '5'}}", "privacy[0]: k-anonymity: k must be a whole number, got '5'."),
        (
            "{k-anonymity: {k: true}}",
            "privacy[0]: k-anonymity: k must be a whole number, got true.",
        ),
        (
            "{k-anonymity: {k: null}}",
            "privacy[0]: k-anonymity: k must be a whole number, got nothing.",
        ),
        ("{k-anonymity: {k: 5}}, {k-anonymity: {k: 0}}", "privacy[1]: k-anonymity: k must be"),
        ("{l-diversity: {l: many}}", "privacy[0]: l-diversity: l must be a number, got 'many'."),
        ("{l-diversity: {l: 0}}", "l-diversity: l must be"),
        ("{l-diversity: {l: 2.5}}", "l-diversity: l must be a whole number for the distinct kind"),
        (
            "{l-diversity: {l: 2, kind: recursiv}}",
            "l-diversity: kind must be one of distinct, entropy,"
            " recursive, frequency, got 'recursiv'. Did you mean",
        ),
        ("{l-diversity: {l: 2, kind: recursive}}", "l-diversity: the recursive kind needs c"),
        ("{l-diversity: {l: 2, c: 3}}", "l-diversity: c belongs to the recursive kind"),
        ("{t-closeness: {t: 0}}", "t-closeness: t must be a number above 0, got 0."),
        ("{t-closeness: {t: 1.1}}", "t-closeness: t must be a number at most 1, got 1.1."),
        (
            "{t-closeness: {t: 0.1, distance: eqal}}",
            "distance must be one of equal, ordered,"
            " hierarchical, got 'eqal'. Did you mean 'equal'?",
        ),
        ("{p-sensitive: {p: 2}}", "p-sensitive: 'k' is missing."),
        ("{alpha-k: {alpha: 2, k: 2}}", "alpha-k: alpha must be a number at most 1, got 2."),
        (
            "{confidence-bounding: {C: 0.5, values: HIV}}",
            "confidence-bounding: values must be a list, got 'HIV'.",
        ),
        (
            "{confidence-bounding: {C: 0.5, values: []}}",
            "values must be a list with at least 1 entry",
        ),
        (
            "{confidence-bounding: {C: 0.5, values: [HIV, null]}}",
            "values[1] must be a text, got nothing.",
        ),
        (
            "{l-diversity: {l: 2, sensitive: [disease]}}",
            "sensitive must be a text, got ['disease'].",
        ),
        (
            "{l-diversity: {l: 2, sensitive: diseas}}",
            "l-diversity names 'diseas', which is not among the"
            " attributes. Did you mean 'disease'?",
        ),
        (
            "{l-diversity: {l: 2, sensitive: age}}",
            "l-diversity protects 'age', whose role is quasi; give it the role sensitive.",
        ),
        ("{l-diversity: {l: 2, sensitive: ward}}", "whose role is keep"),
    ],
)
def test_a_wrong_promise(entry: str, problem: str) -> None:
    assert problem in refusal(with_privacy(entry))


@pytest.mark.parametrize("privacy", ["k-anonymity", "{k-anonymity: {k: 5}}", "5", ""])
def test_privacy_is_a_list(privacy: str) -> None:
    assert "privacy must be a list, got" in refusal(f"{START}privacy: {privacy}\n")


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        (
            "method: mondrain",
            "there is no method 'mondrain'. Did you mean 'mondrian'? Allowed: auto, mondrian, "
            "top-down-specialization, top-down-local, incognito, research-value, clustering, "
            "anatomize, histories.",
        ),
        (
            "method: {name: datafly}",
            "there is no method 'datafly'. Allowed: auto, mondrian, top-down-specialization, "
            "top-down-local, incognito, research-value, clustering, anatomize, histories.",
        ),
        ("method: anatomize", "say `publish: anatomy`"),
        (
            "method: top-down-specialization\ngoal: classification",
            "goal: classification needs exactly one attribute with the role target",
        ),
        (
            "method: {name: top-down-specialization, search: fast}",
            "method: top-down-specialization: search must be one of best, frugal, gain, "
            "greedy, got 'fast'.",
        ),
        ("method: {split: loss}", "method: must be a name, or a mapping with one"),
        ("method: [mondrian]", "method: must be a name, or a mapping with one"),
        ("method: {name: [mondrian]}", "method: must be a name, or a mapping with one"),
        ("method:", "method: must be a name, or a mapping with one"),
        ("method: 5", "method: must be a name, or a mapping with one"),
        (
            "method: {name: mondrian, split: lose}",
            "method: mondrian: split must be one of loss, median, got 'lose'. Did you mean 'loss'?",
        ),
    ],
)
def test_a_wrong_method(setting: str, problem: str) -> None:
    assert problem in refusal(with_setting(setting))


def test_a_policy_needs_a_quasi_identifier() -> None:
    message = refusal("attributes: {age: keep, disease: sensitive}\n" + PRIVACY)
    assert "no attribute has the role quasi. Name the columns an attacker may know" in message


def test_long_contents_are_cut_short() -> None:
    message = refusal(with_setting(f"source: [{', '.join(['abcdefgh'] * 100)}]"))
    assert len(message) < 120
    assert "…" in message


def test_one_of_several_sensitive_attributes_must_be_named() -> None:
    two = "attributes: {age: quasi, d: sensitive, e: sensitive}\n"
    assert "privacy[0]: l-diversity: 'sensitive' is missing." in refusal(
        two + "privacy: [{l-diversity: {l: 2}}]"
    )
    none = "attributes: {age: quasi, d: target}\n"
    assert "'sensitive' is missing" in refusal(none + "privacy: [{l-diversity: {l: 2}}]")
    policy = Policy.from_yaml(two + "privacy: [{l-diversity: {l: 2, sensitive: e}}]")
    assert policy.privacy == [LDiversity(l=2, sensitive="e")]


@pytest.mark.parametrize(
    ("attribute", "problem"),
    [
        ("{role: quasi, weight: 0}", "attributes.age.weight must be a number above 0, got 0."),
        ("{role: quasi, weight: high}", "attributes.age.weight must be a number, got 'high'."),
        ("{role: quasi, rules: {apart: [1, 2]}}", "attributes.age.rules must be a list, got"),
        (
            "{role: quasi, rules: [{apart: [64]}]}",
            "attributes.age.rules[0].apart: a rule names two different values, as in",
        ),
        ("{role: quasi, rules: [{apart: [5, 5]}]}", "a rule names two different values"),
        ("{role: quasi, rules: [{apart: [[1], 5]}]}", "rules[0].apart[0] must be a text"),
        (
            "{role: quasi, rules: [{apart: [1, 2], importanse: 4}]}",
            "unknown key 'attributes.age.rules[0].importanse'. Did you mean 'importance'?",
        ),
        ("{role: quasi, rules: [{apart: [1, 2], importance: -4}]}", "a number above 0, got -4."),
        ("{role: keep, weight: 2}", "attributes.age: `weight:` is for quasi-identifiers"),
        ("{role: keep, rules: [{apart: [1, 2]}]}", "attributes.age: `rules:` is for"),
    ],
)
def test_wrong_weights_and_rules(attribute: str, problem: str) -> None:
    text = f"attributes: {{age: {attribute}, sex: quasi}}\n{PRIVACY}"
    assert problem in refusal(text)


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("weights: [1, 2]", "weights must be correlation, got [1, 2]."),
        ("rule-base: much", "rule-base must be a number, got 'much'."),
        ("rule-base: -1", "rule-base must be a number at least 0, got -1."),
        ("weights: correlation", "but 'age' has a `weight:` of its own; keep one of the two"),
    ],
)
def test_wrong_settings_of_research_value(setting: str, problem: str) -> None:
    text = f"attributes: {{age: {{role: quasi, weight: 2}}}}\n{PRIVACY}\n{setting}\n"
    assert problem in refusal(text)
