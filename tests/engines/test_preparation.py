"""From a frame and a policy to coded columns, hierarchies and bound models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from incrowd.engines.preparation import Prepared, prepare
from incrowd.errors import HierarchyError, ParameterError, PolicyError, SourceError
from incrowd.policy import Policy
from incrowd.table import Column

PATIENTS = pl.DataFrame(
    {
        "id": ["p1", "p2", "p3", "p4"],
        "age": ["34", "58", None, "24"],
        "sex": ["M", "F", "F", None],
        "disease": ["Flu", "HIV", "Flu", None],
        "ward": ["07", "7", "7", "8"],
    }
)
ROLES = {
    "id": "identifier",
    "age": "quasi",
    "sex": "quasi",
    "disease": "sensitive",
    "ward": "keep",
}


def policy(attributes: dict[str, Any] | None = None, **settings: Any) -> Policy:
    chosen = {**ROLES, **(attributes or {})}
    return Policy.from_mapping(
        {
            "attributes": {name: role for name, role in chosen.items() if role is not None},
            "privacy": settings.pop("privacy", [{"k-anonymity": {"k": 2}}]),
            **settings,
        }
    )


def prepared(asked: Policy, frame: pl.DataFrame = PATIENTS) -> Prepared:
    return prepare(frame, asked, name="patients.csv")


def shown(column: Column) -> list[str | None]:
    texts = [*column.values, None]
    return [texts[int(code)] for code in column.codes]


def test_columns_are_coded_with_their_roles_and_types() -> None:
    table = prepared(policy()).table
    assert [(c.name, c.role, c.kind) for c in table.columns] == [
        ("age", "quasi", "numeric"),
        ("sex", "quasi", "category"),
        ("disease", "sensitive", "category"),
        ("ward", "keep", "category"),
    ]
    assert (table.records, table.name, table.missing_dropped) == (4, "patients.csv", 0)
    assert shown(table["age"]) == ["34", "58", None, "24"]
    assert shown(table["ward"]) == ["07", "7", "7", "8"]


def test_identifiers_are_left_out_whatever_they_hold() -> None:
    result = prepared(policy())
    assert "id" not in result.table
    assert result.unpublished == {"id": "identifier"}


def test_every_quasi_identifier_has_a_hierarchy_and_others_only_when_asked() -> None:
    result = prepared(policy())
    assert {name: h.kind for name, h in result.hierarchies.items()} == {
        "age": "flat",
        "sex": "flat",
    }
    tree = {"role": "sensitive", "hierarchy": {"tree": {"Viral": ["HIV", "Flu"]}}}
    result = prepared(policy({"disease": tree}))
    assert result.hierarchies["disease"].kind == "tree"
    assert result.table["disease"].values == ("HIV", "Flu"), "in the order of the tree"
    assert shown(result.table["disease"]) == ["Flu", "HIV", "Flu", None]


def test_hierarchies_are_found_beside_the_policy(tmp_path: Path) -> None:
    (tmp_path / "sex.csv").write_text("F;person\nM;person\n")
    file = tmp_path / "policy.yaml"
    file.write_text(
        "attributes: {id: identifier, age: quasi, sex: {role: quasi, hierarchy: sex.csv},"
        " disease: sensitive, ward: keep}\nprivacy: [{k-anonymity: {k: 2}}]\n"
    )
    result = prepared(Policy.from_file(file))
    assert result.hierarchies["sex"].labels[1] == ("person",)


def test_type_order_and_format_of_the_policy_are_followed() -> None:
    frame = PATIENTS.with_columns(born=pl.Series(["1.2.1970", "2.2.1970", "3.2.1970", None]))
    asked = policy(
        {
            "age": {"role": "quasi", "type": "category"},
            "sex": {"role": "quasi", "order": ["M", "X", "F"]},
            "born": {"role": "quasi", "format": "%d.%m.%Y"},
        }
    )
    table = prepared(asked, frame).table
    assert (table["age"].kind, table["sex"].kind, table["born"].kind) == (
        "category",
        "ordered",
        "date",
    )
    assert table["sex"].values == ("M", "F")
    assert table["born"].values == ("1970-02-01", "1970-02-02", "1970-02-03")


def test_models_are_bound_to_the_columns() -> None:
    listed = {"C": 0.5, "sensitive": "disease", "values": ["HIV"]}
    result = prepared(policy(privacy=[{"confidence-bounding": listed}]))
    (model,) = result.models
    assert model.promise()["parameters"] == listed
    assert model._listed.tolist() == [1]  # type: ignore[attr-defined]


def test_values_that_do_not_occur_are_refused() -> None:
    with pytest.raises(ParameterError, match="1 of the values listed for 'disease' do not occur"):
        prepared(policy(privacy=[{"confidence-bounding": {"C": 0.5, "values": ["HIV", "Gout"]}}]))


# columns and roles


def test_a_column_that_is_not_there_is_named_with_the_nearest() -> None:
    with pytest.raises(PolicyError) as caught:
        prepared(policy({"ages": "quasi", "age": None, "zzz": "keep"}))
    assert str(caught.value) == (
        "No column 'ages' in patients.csv. Did you mean 'age'? No column 'zzz' in patients.csv."
    )


def test_many_absent_columns_are_counted() -> None:
    absent = {f"lab result {i}": "keep" for i in range(8)}
    with pytest.raises(PolicyError, match=r"\(3 more are absent.\)") as caught:
        prepared(policy(absent))
    assert str(caught.value).count("No column") == 5


def test_columns_without_a_role_are_refused_with_what_to_do() -> None:
    with pytest.raises(PolicyError) as caught:
        prepared(policy({"ward": None, "id": None}))
    message = str(caught.value)
    assert "2 column(s) of patients.csv have no role: 'id' and 'ward'." in message
    assert "`other: drop`" in message
    assert "`other: keep`" in message


def test_of_many_columns_without_a_role_ten_are_named() -> None:
    wide = PATIENTS.with_columns(**{f"c{i}": pl.lit("x") for i in range(30)})
    with pytest.raises(PolicyError, match=r"30 column\(s\).*'c9' and 20 more\. Give each a role"):
        prepared(policy(), wide)


def test_other_columns_are_dropped_or_kept_as_asked() -> None:
    roles = {"ward": None, "id": None}
    dropped = prepared(policy(roles, other="drop"))
    assert dropped.unpublished == {"id": "other", "ward": "other"}
    assert [column.name for column in dropped.table.columns] == ["age", "sex", "disease"]
    kept = prepared(policy(roles, other="keep"))
    assert kept.unpublished == {}
    assert [(c.name, c.role) for c in kept.table.columns] == [
        ("id", "keep"),
        ("age", "quasi"),
        ("sex", "quasi"),
        ("disease", "sensitive"),
        ("ward", "keep"),
    ]
    assert shown(kept.table["ward"]) == ["07", "7", "7", "8"], "kept as they are written"


# records


def test_a_table_without_records_is_refused() -> None:
    with pytest.raises(SourceError, match=r"patients.csv has no records"):
        prepared(policy(), PATIENTS.head(0))


@pytest.mark.parametrize(
    "promise",
    [
        {"k-anonymity": {"k": 5}},
        {"p-sensitive": {"p": 1, "k": 5, "sensitive": "disease"}},
        {"alpha-k": {"alpha": 1, "k": 5, "sensitive": "disease"}},
    ],
)
def test_a_k_above_the_number_of_records_is_refused(promise: dict[str, Any]) -> None:
    with pytest.raises(PolicyError, match="k is 5, but the table has only 4 records") as caught:
        prepared(policy(privacy=[promise]))
    assert "at most 4" in str(caught.value)
    assert str(caught.value).startswith(next(iter(promise)))


def test_a_k_of_all_records_is_legal() -> None:
    assert prepared(policy(privacy=[{"k-anonymity": {"k": 4}}])).table.records == 4


def test_records_that_lack_a_quasi_identifier_are_dropped_when_asked() -> None:
    table = prepared(policy(missing="drop")).table
    assert (table.records, table.missing_dropped) == (2, 2)
    assert [shown(column) for column in table.columns] == [
        ["34", "58"],
        ["M", "F"],
        ["Flu", "HIV"],
        ["07", "7"],
    ]
    assert table["age"].missing == 0


def test_records_that_lack_another_value_stay() -> None:
    frame = PATIENTS.with_columns(age=pl.lit("30"), sex=pl.lit("F"))
    table = prepared(policy(missing="drop"), frame).table
    assert (table.records, table.missing_dropped) == (4, 0)
    assert shown(table["disease"]) == ["Flu", "HIV", "Flu", None]


def test_dropping_every_record_is_refused() -> None:
    frame = PATIENTS.with_columns(age=pl.lit(None, dtype=pl.String))
    with pytest.raises(SourceError, match="every record lacks a quasi-identifier"):
        prepared(policy(missing="drop"), frame)
    assert prepared(policy(), frame).table["age"].missing == 4


def test_dropped_values_need_no_place_in_a_hierarchy() -> None:
    frame = PATIENTS.with_columns(sex=pl.Series(["M", "F", "alien", None]))
    asked = {"sex": {"role": "quasi", "hierarchy": {"tree": ["M", "F"]}}}
    assert prepared(policy(asked, missing="drop"), frame).table["sex"].values == ("M", "F")
    with pytest.raises(
        HierarchyError, match=r"1 distinct values \(1 records, the first is record 3"
    ):
        prepared(policy(asked), frame)


def test_records_that_come_in_several_frames_are_one_table() -> None:
    whole = prepared(policy())
    pieces = iter([PATIENTS.head(0), PATIENTS.head(1), PATIENTS.slice(1, 0), PATIENTS.slice(1)])
    parts = prepare(pieces, policy(), name="patients.csv")
    assert parts.unpublished == whole.unpublished
    assert parts.table.records == 4
    for one, other in zip(parts.table.columns, whole.table.columns, strict=True):
        assert (one.name, one.role, one.kind) == (other.name, other.role, other.kind)
        assert (one.values, one.missing) == (other.values, other.missing)
        assert shown(one) == shown(other)


def test_no_frame_and_empty_frames_hold_no_records() -> None:
    for pieces in ([], [PATIENTS.head(0), PATIENTS.head(0)]):
        with pytest.raises(SourceError, match=r"patients.csv has no records"):
            prepare(iter(pieces), policy(), name="patients.csv")


# cells never leave by an error


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"role": "quasi", "type": "numeric"}, "Column 'ward': 1 of 4 rows are not a number"),
        ({"role": "quasi", "type": "date"}, "Column 'ward': 4 of 4 rows are not a date"),
        ({"role": "quasi", "order": ["7", "8"]}, "Column 'ward': 1 of 4 rows are not in its"),
        (
            {"role": "quasi", "hierarchy": {"mask": {"length": 1}}},
            "Column 'ward': 1 distinct values",
        ),
        ({"role": "quasi", "hierarchy": {"tree": ["7", "8"]}}, "Column 'ward': 1 distinct values"),
    ],
)
def test_errors_name_the_column_and_the_record_and_never_the_cell(
    spec: dict[str, Any], problem: str
) -> None:
    frame = PATIENTS.with_columns(ward=pl.Series(["7", "Secret", "7", "8"]))
    with pytest.raises((SourceError, HierarchyError), match=problem) as caught:
        prepared(policy({"ward": spec}), frame)
    assert "record 1" in str(caught.value) or "record 2" in str(caught.value)
    assert "Secret" not in str(caught.value)
    assert caught.value.__cause__ is None
