import json
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from incrowd import datasets
from incrowd.errors import InputError
from incrowd.profiling import ColumnProfile, Profile, profile

CITIES = ["Ulm", "Bonn", "Kiel", "Jena"]


def column(name: str, cells: Sequence[object], **others: Sequence[object]) -> ColumnProfile:
    """The profile of one column, beside a sex that gives the table a quasi-identifier."""
    sex = ["F", "M"] * (len(cells) // 2) + ["F"] * (len(cells) % 2)
    return profile(pl.DataFrame({name: cells, "sex": sex, **others}))[name]


def roles(found: Profile) -> dict[str, str]:
    return {each.name: each.role for each in found.columns}


def spread(values: Sequence[object], records: int = 60) -> list[object]:
    return [values[i % len(values)] for i in range(records)]


def test_adult() -> None:
    found = profile(datasets.load("adult"))
    assert found.records == 48_842
    assert roles(found) == {
        "age": "quasi",
        "workclass": "quasi",
        "fnlwgt": "quasi",
        "education": "quasi",
        "education-num": "quasi",
        "marital-status": "quasi",
        "occupation": "quasi",
        "relationship": "quasi",
        "race": "quasi",
        "sex": "quasi",
        "capital-gain": "quasi",
        "capital-loss": "quasi",
        "hours-per-week": "quasi",
        "native-country": "quasi",
        "income": "quasi",
        "fold": "quasi",
    }
    assert found["age"].hierarchy == {
        "intervals": {"start": 10, "stop": 100, "widths": [5, 10, 20]}
    }
    assert found["workclass"].hierarchy is None
    assert found["occupation"].hierarchy == {"auto": True}
    assert found["fnlwgt"].reason.startswith("Unsure")
    assert found["fnlwgt"].warnings
    assert found["workclass"].missing == pytest.approx(2_799 / 48_842)


def test_the_cancer_registry() -> None:
    found = profile(datasets.load("cancer-registry", rows=20_000))
    assert roles(found) == {
        "patient_id": "identifier",
        "birth_date": "quasi",
        "gender": "quasi",
        "race": "quasi",
        "zip": "quasi",
        "tumor_topography": "sensitive",
        "histology": "sensitive",
        "survival_years": "sensitive",
        "diagnosis_date": "quasi",
        "age_at_diagnosis": "quasi",
        "tumor_size": "sensitive",
        "tumor_site": "sensitive",
        "recur_status": "target",
    }
    assert found["zip"].type == "category"
    assert found["zip"].hierarchy == {"mask": {"length": 5}}
    assert found["birth_date"].kind == "date"
    assert found["birth_date"].hierarchy == {"dates": ["month", "quarter", "year", "decade"]}


@pytest.mark.parametrize("name", ["adult", "cancer-registry"])
def test_reasons_are_one_plain_sentence_and_the_profile_is_json(name: str) -> None:
    found = profile(datasets.load(name, rows=500))
    for each in found.columns:
        assert each.reason.endswith(".")
        assert ". " not in each.reason
    assert json.loads(json.dumps(found.as_dict()))["columns"][0]["name"] == found.columns[0].name


def test_no_cell_is_kept() -> None:
    secret = ["Hugo Secret", "Ida Secret", "Jan Secret", "Eva Secret", "Max Secret"]
    table = pl.DataFrame(
        {
            "name": secret,
            "age": [17, 38, 41, 52, 93],
            "born": ["17.03.1931", "18.04.1948", "19.05.1959", "20.06.1966", "21.07.1977"],
            "pressure": [117.25, 121.5, 138.75, 142.25, 199.5],
            "zip": ["99084", "99085", "99086", "99087", "99089"],
            "disease": ["Gout", "Gout", "Mumps", "Measles", "Scabies"],
        }
    )
    shown = json.dumps(profile(table).as_dict())
    for series in table:
        for cell in series.cast(pl.String):
            assert str(cell) not in shown


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("patient_id", spread(["A1", "B2"])),
        ("x", [f"person{i}@mail.org" for i in range(60)]),
        ("x", [f"030 {i:07d}" for i in range(60)]),
        ("x", [f"code-{i}" for i in range(60)]),
        ("x", list(range(500, 560))),
        ("x", [7, 8, 9, 10]),
        ("x", [i * i * 7 + 13 for i in range(60)]),
        ("x", [10**17 + 7 * i for i in range(60)]),
        ("x", [f"The patient number {i} came in with a bad cold" for i in range(60)]),
        ("diagnosis", [f"Case {i}: the patient came in with a very bad cold" for i in range(60)]),
        ("diagnosis_id", [f"D-{i}" for i in range(60)]),
        ("diagnosis", [f"condition {i}" for i in range(60)]),
        ("x", [i / 7 for i in range(60)]),
        ("fold", [f"{i:02d}" for i in range(4)] + [None] * 56),
        ("birth_place", [f"p{i}@mail.org" for i in range(60)]),
    ],
)
def test_what_points_to_a_person_is_an_identifier(name: str, cells: Sequence[object]) -> None:
    assert column(name, cells).role == "identifier"


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("x", spread(["a", "b", "c"])),
        ("x", spread([1.5, 2.5, 3.5])),
        ("x", [f"{i * 1.37:.2f}" for i in range(60)]),
        ("x", [3, 17, 40, 41]),
        ("x", spread(["1980-01-01", "1990-05-06"])),
        ("diagnosis_date", spread(["1980-01-01", "1990-05-06"])),
        ("outcome_date", spread(["1980-01-01", "1990-05-06"])),
        ("site_id", spread([1, 2, 3])),
        ("zip", [f"{i:05d}" for i in range(60)]),
        ("x", [None] * 59 + ["rare"]),
    ],
)
def test_when_unsure_or_known_to_others_it_is_quasi(name: str, cells: Sequence[object]) -> None:
    assert column(name, cells).role == "quasi"


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("disease", ["Flu", "Gout", "Mumps", "Angina"]),
        ("icd_code", spread(["C50.9", "E11.6", "I10"])),
        ("cholesterol", [150 + i * 1.37 for i in range(60)]),
        ("hiv", spread([0, 1])),
    ],
)
def test_what_people_keep_private_is_sensitive(name: str, cells: Sequence[object]) -> None:
    assert column(name, cells).role == "sensitive"


@pytest.mark.parametrize(
    ("cells", "what"),
    [
        (["C50.9", "E11.6", "I10"], "ICD-10"),
        (["8500/3", "8140/3", "8070/3"], "ICD-O"),
        (["A10BA02", "C09AA05", "N02BE01"], "ATC"),
    ],
)
def test_codes_without_a_clinical_word_are_protected_and_pointed_out(
    cells: Sequence[str], what: str
) -> None:
    found = column("x", spread(cells))
    assert found.role == "quasi"
    assert any(what in warning for warning in found.warnings)


def test_a_column_of_one_value_is_quasi_and_an_empty_one_left_out() -> None:
    assert column("x", ["same"] * 8).role == "quasi"
    assert column("country", ["DE"] * 8).role == "quasi"
    empty = column("x", [None] * 8)
    assert (empty.role, empty.missing, empty.distinct) == ("identifier", 1.0, 0)


def test_only_one_target_and_it_is_the_clearest() -> None:
    cells = spread(["yes", "no"])
    found = profile(pl.DataFrame({"readmitted": cells, "class": cells, "sex": spread(["F", "M"])}))
    assert roles(found) == {"readmitted": "sensitive", "class": "target", "sex": "quasi"}


def test_without_a_quasi_identifier_the_most_telling_columns_become_one() -> None:
    table = pl.DataFrame(
        {
            "patient_id": [f"P{i}" for i in range(60)],
            "disease": spread(["Flu", "Gout", "Mumps"]),
            "glucose": [80 + i % 30 for i in range(60)],
            "outcome": spread(["better", "worse"]),
        }
    )
    assert roles(profile(table)) == {
        "patient_id": "identifier",
        "disease": "sensitive",
        "glucose": "quasi",
        "outcome": "quasi",
    }


def test_a_single_column_becomes_quasi() -> None:
    assert roles(profile(pl.DataFrame({"disease": spread(["Flu", "Gout"])}))) == {
        "disease": "quasi"
    }
    assert roles(profile(pl.DataFrame({"x": list(range(9))}))) == {"x": "quasi"}
    with pytest.raises(InputError, match="Every column looks like an identifier"):
        profile(pl.DataFrame({"x": [f"v{i}" for i in range(9)]}))


NAMES = [
    "LAST",
    "FIRST",
    "MIDDLE",
    "MAIDEN",
    "family",
    "given",
    "nom",
    "prenom",
    "Prénom",
    "patient_nbr",
    "pat_no",
    "hospnum",
    "NHS",
    "PATIENT",
    "Id",
    "SSN",
    "DRIVERS",
    "PASSPORT",
    "person_id",
    "person_source_value",
    "Versichertennummer",
    "Nachname",
    "Vorname",
    "apellido",
    "DNI",
    "BSN",
    "achternaam",
    "voornaam",
    "cognome",
    "nome",
    "codice_fiscale",
    "NIR",
    "USUBJID",
    "subjid",
    "FIRST_1",
    "name.family",
    "name_given",
    "patientNumber",
    "PatNr",
    "Patientennummer",
    "NumeroDossier",
    "ipp",
    "nhc",
    "cedula",
    "naam",
    "burgerservicenummer",
    "tessera_sanitaria",
    "LastName",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_and_numbers_of_people_are_not_published_in_six_languages(name: str) -> None:
    # Few different ones: they must not pass for groups of people.
    found = column(name, spread([f"Abernathy{i}" for i in range(40)], 2_000))
    assert found.role == "identifier", found.reason


def surnames(records: int, many: int) -> list[object]:
    return [f"{'ABCDEFGH'[i % 8]}bern{'xyz'[i % 3]}athy{i % many}" for i in range(records)]


@pytest.mark.parametrize("name", ["x", "field7", "bezeichnung", "CODE2"])
def test_unknown_text_of_many_values_is_left_out(name: str) -> None:
    assert column(name, surnames(1_000, 300)).role == "identifier"
    assert column(name, surnames(60, 20)).role == "identifier"
    assert column(name, spread(["north", "south", "east"], 60)).role == "quasi"


@pytest.mark.parametrize("name", ["x", "result_no", "lab_number", "outcome", "test_nbr"])
def test_unique_numbers_and_codes_are_identifiers_whatever_their_name(name: str) -> None:
    gaps = [10_000_000 + 37 * i + i % 5 for i in range(200)]
    assert column(name, gaps).role == "identifier"
    assert column(name, [f"AB{number}" for number in gaps]).role == "identifier"


def test_distinct_measures_and_birth_dates_are_no_identifiers() -> None:
    assert column("glucose", [round(4 + i * 0.013, 3) for i in range(200)]).role == "sensitive"
    assert column("x", [round(4 + i * 0.013, 3) for i in range(200)]).role == "quasi"
    born = [f"19{30 + i % 60}-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(200)]
    assert column("birth_date", born).role == "quasi"
    assert column("birth_date", [f"{day}T00:00:00Z" for day in born]).role == "quasi"


MONTHS = ["janvier", "février", "mars", "avril", "mai", "juin"]


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("date_naissance", [f"{1 + i % 28} {MONTHS[i % 6]} 19{30 + i % 60}" for i in range(60)]),
        ("x", [f"{1 + i % 28:02}.{1 + i % 12:02}.19{30 + i % 60}" for i in range(59)] + ["31.02."]),
        ("visit", ["31/01/1980", "01/31/1980"] * 30),
        ("DOB", ["1980-01-31", "31.01.1980"] * 30),
    ],
)
def test_dates_that_cannot_be_read_are_left_out_with_the_remedy(
    name: str, cells: Sequence[str]
) -> None:
    found = column(name, cells)
    assert found.role == "identifier"
    assert any("`type: date`" in warning for warning in found.warnings)


@pytest.mark.parametrize("name", ["fold", "ward", "x", "status", "group", "weight", "income"])
def test_no_other_word_leads_to_a_column_published_as_it_is(name: str) -> None:
    assert column(name, spread(["a", "b", "c"])).role == "quasi"
    assert column(name, ["a"] * 60).role == "quasi"


def test_only_identifiers_are_refused() -> None:
    with pytest.raises(InputError, match="Every column looks like an identifier"):
        profile(pl.DataFrame({"name": ["A", "B", "C", "D"], "email": ["a@b.de"] * 4}))


@pytest.mark.parametrize(
    ("name", "cells", "type_", "hierarchy"),
    [
        ("age", [3, 40, 71, 109], "numeric", {"start": 0, "stop": 110, "widths": [5, 10, 20]}),
        ("birth_year", [1931, 1950, 2001], "numeric", {"start": 1930, "stop": 2010}),
        ("age", [3, 40, 71, 999], "numeric", "auto"),
        ("height", [1.6, 1.7, 1.8], "numeric", "auto"),
        ("smoker_at_home", spread([0, 1]), None, None),
        ("employed", spread([0, 1]), "category", None),
        ("plz", ["01067", "10115"], "category", {"length": 5}),
        ("plz", [10115, 80331], "category", {"length": 5}),
        ("plz", [1067, 80331], "numeric", "auto"),
        ("plz", ["1067", "A-8010", "80331"], "category", None),
        ("plz", [f"{'D-' * (i % 2)}{i}" for i in range(100, 150)], "category", "auto"),
        ("city", CITIES, None, None),
        ("job", spread([f"j{'o' * i}b" for i in range(20)]), None, "auto"),
        ("region", spread([f"R{i:03d}" for i in range(20)]), "category", {"length": 4}),
        ("job", [f"job {i}" for i in range(1200)], None, None),
        ("birth", ["31.01.1980", "01.02.1990"], "date", ["month", "quarter", "year", "decade"]),
    ],
)
def test_hierarchies_fit_the_values(
    name: str, cells: Sequence[object], type_: str | None, hierarchy: Any
) -> None:
    found = column(name, cells)
    assert found.type == type_
    if hierarchy is None:
        assert found.hierarchy is None
        return
    assert found.hierarchy is not None
    ((kind, value),) = found.hierarchy.items()
    if hierarchy == "auto":
        assert (kind, value) == ("auto", True)
    elif isinstance(hierarchy, list):
        assert (kind, value) == ("dates", hierarchy)
    else:
        assert kind == ("mask" if "length" in hierarchy else "intervals")
        assert {key: value[key] for key in hierarchy} == hierarchy


def test_lost_zeros_strange_ages_and_many_categories_are_warned_of() -> None:
    assert any("zeros" in w for w in column("plz", [1067, 80331]).warnings)
    assert any("0 and 130" in w for w in column("age", [3, 40, 71, 999]).warnings)
    jobs = column("job", [f"job {i}" for i in range(1200)])
    assert any("1,200 categories" in w for w in jobs.warnings)


def test_an_ambiguous_date_is_told_in_the_reason() -> None:
    found = column("admission", ["01/02/1980", "03/04/1990"])
    assert found.format == "%d/%m/%Y"
    assert "month first" in found.reason
    assert "month first" not in column("admission", ["31/01/1980", "03/04/1990"]).reason


def test_many_quasi_identifiers_are_warned_of() -> None:
    wide = pl.DataFrame({f"x{i}": spread(["a", "b", "c"]) for i in range(16)})
    assert any("16 columns are quasi-identifiers" in w for w in profile(wide).warnings)
    assert profile(wide[:, :15]).warnings == ()


def test_the_same_table_gives_the_same_profile() -> None:
    table = datasets.load("adult", rows=3_000)
    assert profile(table) == profile(table)
