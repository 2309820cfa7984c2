"""What the page says and draws: sentences for every model, fields that fit, the picture."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest

pytest.importorskip("nicegui", reason="the page needs the extra incrowd[serve]")

import itertools
import re

from incrowd.methods import METHOD_OPTIONS
from incrowd.policy.naming import with_method
from incrowd.privacy import MODELS
from incrowd.report.scatter import SHAPES, Point
from incrowd.serve.pages._editing import (
    columns_of,
    hierarchy_of,
    is_of_events,
    method_of,
    role_of,
    said_of,
    varies,
    with_hierarchy,
    with_role,
    with_setting,
    with_unit,
    with_varying,
)
from incrowd.serve.pages._hierarchies import described
from incrowd.serve.pages._hierarchy_dialog import groups_of, lines_of
from incrowd.serve.pages._parameters import (
    _kind,
    categories_of,
    cleaned,
    offered,
    parameters,
    text_of,
)
from incrowd.serve.workspace.attributes import names_patients, with_unmatched
from incrowd.serve.workspace.pictures import one_in, risk_utility

DRAFT: dict[str, Any] = {
    "attributes": {
        "age": {"role": "quasi", "weight": 2.0, "hierarchy": "auto"},
        "sex": "quasi",
        "illness": "sensitive",
    },
    "privacy": [{"l-diversity": {"l": 2, "sensitive": "illness"}}],
}


def test_every_model_of_the_package_is_offered_common_ones_first() -> None:
    assert set(offered()) == set(MODELS)
    assert list(offered())[:4] == ["k-anonymity", "l-diversity", "lkc", "t-closeness"]
    assert offered()["lkc"] == "Attackers who know a few facts (LKC-privacy)"


@pytest.mark.parametrize("model", MODELS)
def test_the_fields_of_every_model_make_a_legal_one(model: str) -> None:
    entry = MODELS[model].starting(["illness", "stage"])
    if model == "l-alpha-diversity":
        entry["categories"] = categories_of("HIV\nFlu, Cold")
    fields = {each.name for each in parameters(model)}
    assert fields == {
        field.alias or name.removesuffix("_") for name, field in MODELS[model].model_fields.items()
    }
    MODELS[model].model_validate(cleaned(model, entry))


@pytest.mark.parametrize("model", MODELS)
def test_sentences_name_every_number_and_follow_it(model: str) -> None:
    entry = MODELS[model].starting(["illness", "stage"])
    said = MODELS[model].sentence(entry)
    assert said != MODELS[model].summary
    assert "illness" in said or "sensitive" not in MODELS[model].model_fields
    for each in parameters(model):
        if each.kind in ("whole", "number") and each.name in entry:
            assert MODELS[model].sentence({**entry, each.name: entry[each.name] + 4}) != said, (
                each.name
            )
    assert MODELS[model].sentence({}).endswith(".")


def test_the_sentence_of_lkc() -> None:
    assert MODELS["lkc"].sentence({"L": 2, "K": 20, "C": 0.5, "sensitive": "diagnosis"}) == (
        "An attacker who knows any two facts about a patient finds at least 20 records that fit, "
        "and is sure of the diagnosis in at most 50 of 100 cases."
    )


def test_parameters_that_do_not_apply_are_left_out() -> None:
    assert cleaned("l-diversity", {"l": 2, "kind": "distinct", "c": 3.0, "sensitive": "x"}) == {
        "l": 2,
        "kind": "distinct",
        "sensitive": "x",
    }
    asked = {"k": 5.0, "l": 2, "sensitive": ["a"], "limits": {"a": 1, "b": 2}}
    assert cleaned("multi-sensitive", asked)["limits"] == {"a": 1}
    assert cleaned("k-anonymity", {"k": 5.0}) == {"k": 5}
    whole = cleaned("lkc", {"L": 2.0, "K": 5.0, "C": 1})  # a browser writes 1.0 so
    assert repr(MODELS["lkc"](**whole).model_dump()["C"]) == "1.0"


def test_what_is_no_text_has_a_field_that_holds_it() -> None:
    asked = (list[int], dict[str, int], list[str] | None, bool, int | None, float, str)
    kinds = ["yaml", "yaml", "yaml", "switch", "whole", "number", "text"]
    assert [_kind(None, annotation)[0] for annotation in asked] == kinds


def test_a_column_that_is_no_longer_sensitive_takes_its_promise_away() -> None:
    changed, notes = with_role(DRAFT, "illness", "keep")
    assert role_of(changed, "illness") == "keep"
    assert changed["privacy"] == [{"k-anonymity": {"k": 5}}]
    assert len(notes) == 1
    assert DRAFT["privacy"] == [{"l-diversity": {"l": 2, "sensitive": "illness"}}]


def test_a_column_that_is_no_longer_quasi_loses_its_weight_alone() -> None:
    changed, notes = with_role(DRAFT, "age", "keep")
    assert changed["attributes"]["age"] == {"role": "keep", "hierarchy": "auto"}
    assert notes == []
    assert columns_of(changed, ["illness", "sex", "age", "name"], "quasi") == ["sex"]
    assert role_of(changed, "name") == "identifier"


def test_a_unit_that_is_no_identifier_any_more_is_asked_for_again() -> None:
    draft = {"attributes": {"id": "identifier", "age": "quasi"}, "unit": "id"}
    for role in ("quasi", "sensitive"):
        changed, notes = with_role(draft, "id", role)
        assert "unit" not in changed
        assert notes == ["'id' told patients apart: say again what a row is."]
    assert with_role(draft, "age", "identifier")[0]["unit"] == "id"


def test_hierarchies_and_settings_come_and_go() -> None:
    changed = with_hierarchy(DRAFT, "sex", {"mask": {"length": 1}})
    assert hierarchy_of(changed, "sex") == {"mask": {"length": 1}}
    assert with_hierarchy(changed, "sex", None)["attributes"]["sex"] == "quasi"
    assert with_setting(DRAFT, "goal", "classification", "general")["goal"] == "classification"
    assert "goal" not in with_setting(DRAFT, "goal", "general", "general")


def test_groups_and_categories_read_what_they_write() -> None:
    groups = {"North": ["Oslo", "Bern"], "South": ["Rome"]}
    assert groups_of(lines_of(groups)) == groups
    assert lines_of({"North": {"Cold": ["Oslo"]}}) == ""
    assert categories_of(text_of([["HIV", "Cancer"], ["Flu"]])) == [["HIV", "Cancer"], ["Flu"]]
    with pytest.raises(Exception, match="Line 2: write the name of the group"):
        groups_of("North: Oslo\nRome")


@pytest.mark.parametrize(
    ("hierarchy", "words"),
    [
        (None, "no hierarchy: ranges or sets of values, or hidden"),
        ("places/city.csv", "from the file city.csv"),
        ({"file": "city.csv"}, "from the file city.csv"),
        ("auto", "built from the values themselves"),
        ({"mask": {"length": 5}}, "the last characters masked one after the other"),
        ({"dates": ["month", "year"]}, "dates: month, year"),
        ({"tree": {"North": ["Oslo"]}}, "groups of values"),
    ],
)
def test_hierarchies_in_words(hierarchy: object, words: str) -> None:
    assert described(hierarchy) == words


def test_the_picture_is_whole_and_places_points_by_risk_and_utility() -> None:
    points = [
        Point(0, "Raw & more", "Raw & more", 1.0, 1.0),
        Point(1, "Run 1", "Run 1", 0.2, 0.9, "/?run=a"),
        Point(2, "Run 2", "Run 2", 0.02, 0.5, "/?run=b", SHAPES.index("square")),
    ]
    root = ET.fromstring(risk_utility(points))
    links = root.findall("a")
    assert [link.attrib["href"] for link in links] == ["/?run=a", "/?run=b"]
    assert (
        "Raw & more: risk at most 1 in 1, 100% of the cells as they were"
        in root.attrib["aria-label"]
    )
    marks = [link.find("g") for link in links]
    first, second = (
        re.findall(r"[\d.]+", each.attrib["transform"]) for each in marks if each is not None
    )
    assert float(second[0]) < float(first[0])
    assert float(second[1]) > float(first[1])


def test_labels_of_points_at_one_place_do_not_touch() -> None:
    for many, named in ((4, "Run"), (12, "(")):
        points = [Point(n, f"Run {n}", f"Run {n}", 0.2, 0.9) for n in range(many)]
        texts = list(ET.fromstring(risk_utility(points)).iter("text"))
        labels = [each for each in texts if (each.text or "").startswith(named)]
        places = [(float(each.attrib["x"]), float(each.attrib["y"])) for each in labels]
        assert len(places) == many
        for (left, high), (right, low) in itertools.combinations(places, 2):
            assert abs(high - low) >= 13 or abs(left - right) >= 20


def test_risks_as_people_say_them() -> None:
    assert [one_in(risk) for risk in (1, 0.5, 0.4, 0.07, 0.0)] == [
        "1 in 1",
        "1 in 2",
        "1 in 2.5",
        "1 in 14",
        "0",
    ]


@pytest.mark.parametrize("name", METHOD_OPTIONS)
def test_a_method_that_was_chosen_runs_whatever_auto_would_take(name: str) -> None:
    draft = {**DRAFT, "privacy": [{"lkc": {"L": 1, "K": 2}}]}
    assert method_of(draft) == "auto"
    chosen = with_setting(draft, "method", name, method_of({}))
    assert method_of(chosen) == name
    assert with_method(chosen)["method"] == name


def test_what_is_said_of_the_rows_of_a_patient_goes_where_each_row_is_another() -> None:
    draft = with_unit(DRAFT, "name")
    held = with_varying(draft, "illness", varying=True)
    assert (varies(held, "illness"), varies(held, "sex")) == (True, False)
    assert held["attributes"]["illness"] == {"role": "sensitive", "level": "event"}
    assert with_varying(held, "illness", varying=False) == draft
    assert with_unit({**held, "most-events": 5}, "row") == {**DRAFT, "unit": "row"}
    assert with_unit(held, None) == DRAFT


LINKED: dict[str, Any] = {
    "patients": {
        "source": "p.csv",
        "key": "Id",
        "attributes": {"Id": "identifier", "a.b": "quasi"},
    },
    "tables": {
        "drugs": {"unit": "who", "attributes": {"code": {"role": "sensitive", "type": "category"}}},
        "visits": {"unit": "Id", "other": "keep"},
    },
    "privacy": [{"confidence-bounding": {"C": 0.5, "sensitive": "drugs.code"}}],
}


def test_columns_of_linked_tables_are_found_and_changed_where_they_stand() -> None:
    columns = ["Id", "a.b", "drugs.who", "drugs.code", "visits.ward"]
    roles = [role_of(LINKED, name) for name in columns]
    assert roles == ["identifier", "quasi", "identifier", "sensitive", "keep"]
    assert [names_patients(LINKED, name) for name in columns] == [True, False, True, False, False]
    assert [is_of_events(LINKED, name) for name in columns] == [False, False, True, True, True]
    changed, notes = with_role(LINKED, "drugs.code", "keep")
    assert changed["tables"]["drugs"]["attributes"] == {
        "code": {"role": "keep", "type": "category"}
    }
    assert (changed["privacy"], len(notes)) == ([{"k-anonymity": {"k": 5}}], 1)
    assert with_hierarchy(LINKED, "a.b", "auto")["patients"]["attributes"]["a.b"] == {
        "role": "quasi",
        "hierarchy": "auto",
    }
    assert with_unmatched(LINKED, "drugs", drop=True)["tables"]["drugs"]["unmatched"] == "drop"
    assert with_unmatched(LINKED, "drugs", drop=False) == LINKED


def test_promises_speak_of_patients_where_these_are_counted() -> None:
    sentence = MODELS["k-anonymity"].sentence({"k": 5})
    assert "finds at least 5 records that fit" in said_of("record", sentence)
    assert "finds at least 5 patients that fit" in said_of("patient", sentence)
    assert said_of("patient", "Records of recorded stays") == "Patients of recorded stays"
