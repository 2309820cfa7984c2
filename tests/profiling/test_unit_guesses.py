"""What `incrowd init` takes a row for: an identifier of patients, or the row, never too boldly."""

import pytest

from incrowd.profiling._units import guess_unit
from incrowd.table.repeats import Repeats

ROWS = 1_000


def column(name: str, distinct: int = ROWS, present: int = ROWS) -> Repeats:
    return Repeats(name, ROWS, present, min(distinct, present))


@pytest.mark.parametrize(
    ("identifiers", "unit"),
    [
        ([], "row"),
        ([column("patient_id")], "patient_id"),
        ([column("name", 980), column("patient_id")], "patient_id"),
        ([column("Fallnummer"), column("Patientennummer")], "Patientennummer"),
        ([column("MRN", present=990), column("subject id")], "subject id"),
        ([column("id"), column("name", 980)], "id"),
        ([column("cryptic")], "cryptic"),
        ([column("visit_id")], "row"),
        ([column("patient_id", 200)], "patient_id"),
        ([column("visit_id"), column("patient_id", 200)], "patient_id"),
        ([column("Fallnummer"), column("PatNr", 9)], "PatNr"),
        ([column("Unnamed: 0")], "row"),
        ([column("row")], "row"),
        ([column("comment", 20)], "row"),
        ([column("empty", 0, 0)], "row"),
    ],
)
def test_what_runs_at_once(identifiers: list[Repeats], unit: str) -> None:
    guess = guess_unit(identifiers)
    assert (guess.unit, guess.undecided) == (unit, False)


@pytest.mark.parametrize(
    ("identifiers", "unit", "told"),
    [
        ([column("patient_id", 200, 900)], "patient_id", "200 different values in 1,000 rows"),
        (
            [column("encounter"), column("last_name", 200)],
            "last_name",
            "tells patients apart",
        ),
        ([column("encounter"), column("last_name", 9)], "last_name", "say `unit: row` if each row"),
        ([column("mrn", present=990)], "mrn", "missing in 10 of 1,000 rows"),
    ],
)
def test_what_a_person_must_decide(identifiers: list[Repeats], unit: str, told: str) -> None:
    guess = guess_unit(identifiers)
    assert (guess.unit, guess.undecided) == (unit, True)
    assert told in guess.reason


def test_a_number_that_may_be_of_rows_is_asked_about() -> None:
    assert "numbers rows or visits, say `unit: row`" in guess_unit([column("id")]).reason
    assert "numbers rows" not in guess_unit([column("patient_id")]).reason
    both = guess_unit([column("id"), column("name", 950)]).reason
    assert "'name' has 950 different values in 1,000 rows" in both
    assert guess_unit([]).reason.count("Is each row another patient?") == 1
