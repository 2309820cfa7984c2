import pytest

from incrowd.profiling._concepts import CONCEPTS
from incrowd.profiling._vocabulary import match_name
from incrowd.table.person_names import words_of


def said(name: str) -> tuple[str, str] | None:
    match = match_name(name)
    return None if match is None else (match.concept.role, match.concept.key)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("patient_age", ("patient", "age")),
        ("PatientAge", ("patient", "age")),
        ("ZIPCode", ("zip", "code")),
        ("date of birth", ("date", "of", "birth")),
        ("Größe (cm)", ("grosse", "cm")),
        ("Âge", ("age",)),
        ("icd10", ("icd", "10")),
        ("  __  ", ()),
    ],
)
def test_a_name_is_taken_apart_into_words(name: str, words: tuple[str, ...]) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("name", "role", "key"),
    [
        ("age", "quasi", "age"),
        ("AlterBeiAufnahme", "quasi", "age"),
        ("edad", "quasi", "age"),
        ("âge", "quasi", "age"),
        ("DateOfBirth", "quasi", "birth"),
        ("Geburtsdatum", "quasi", "birth"),
        ("date_de_naissance", "quasi", "birth"),
        ("fecha de nacimiento", "quasi", "birth"),
        ("SEX", "quasi", "sex"),
        ("Geschlecht", "quasi", "sex"),
        ("sexo", "quasi", "sex"),
        ("plz", "quasi", "postal code"),
        ("zip_code", "quasi", "postal code"),
        ("Postleitzahl", "quasi", "postal code"),
        ("codigo-postal", "quasi", "postal code"),
        ("marital.status", "quasi", "family"),
        ("Staatsangehörigkeit", "quasi", "origin"),
        ("Beruf", "quasi", "occupation"),
        ("admission_date", "quasi", "stay"),
        ("patient_id", "identifier", "record number"),
        ("Patientennummer", "identifier", "record number"),
        ("SSN", "identifier", "record number"),
        ("insurance number", "identifier", "record number"),
        ("insurance", "quasi", "insurance"),
        ("first_name", "identifier", "person name"),
        ("Nachname", "identifier", "person name"),
        ("apellidos", "identifier", "person name"),
        ("E-Mail", "identifier", "e-mail"),
        ("Telefon", "identifier", "phone"),
        ("Straße", "identifier", "address"),
        ("Bemerkungen", "identifier", "free text"),
        ("diagnoses", "sensitive", "diagnosis"),
        ("Hauptdiagnose", "sensitive", "diagnosis"),
        ("enfermedad", "sensitive", "diagnosis"),
        ("maladie", "sensitive", "diagnosis"),
        ("dx1", "sensitive", "diagnosis"),
        ("procedures", "sensitive", "procedure"),
        ("drug", "sensitive", "medication"),
        ("HbA1c", "sensitive", "lab result"),
        ("hba1c", "sensitive", "lab result"),
        ("Einkommen", "quasi", "money"),
        ("readmitted", "target", "outcome"),
        ("class", "target", "target"),
    ],
)
def test_what_a_name_speaks_of(name: str, role: str, key: str) -> None:
    assert said(name) == (role, key)


@pytest.mark.parametrize("name", ["message", "x1", "", "pageviews", "sextant", "zipper", "agent"])
def test_a_word_inside_another_word_says_nothing(name: str) -> None:
    assert match_name(name) is None


@pytest.mark.parametrize("name", ["stage", "dosage"])
def test_stage_and_dosage_are_no_ages(name: str) -> None:
    match = match_name(name)
    assert match is not None
    assert match.concept.role == "sensitive"


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("drug_name", "medication"),
        ("gender_id", "sex"),
        ("name", "person name"),
        ("file_name", "identifier"),
        ("age_class", "age"),
        ("cause_of_death", "diagnosis"),
        ("age_at_diagnosis", "age"),
        ("workclass", "occupation"),
    ],
)
def test_the_word_that_says_more_decides(name: str, key: str) -> None:
    match = match_name(name)
    assert match is not None
    assert match.concept.key == key


def test_an_id_of_something_known_is_remembered() -> None:
    with_id, without = match_name("diagnosis_id"), match_name("diagnosis")
    assert with_id is not None
    assert without is not None
    assert (with_id.identifies, without.identifies) == (True, False)


def test_words_that_count_alone_do_not_count_in_company() -> None:
    alone, company = match_name("patient"), match_name("patient_group")
    assert alone is not None
    assert alone.concept.role == "identifier"
    assert company is None


def test_no_phrase_stands_for_two_things() -> None:
    seen: dict[tuple[bool, tuple[str, ...]], str] = {}
    for concept in CONCEPTS:
        for text in concept.words.split(","):
            phrase = words_of(text)
            assert phrase, f"an empty phrase in {concept.key}"
            once = (concept.alone, phrase)  # a whole name may say more than a word of one
            assert once not in seen, f"{text} in {concept.key} and {seen[once]}"
            seen[once] = concept.key
