"""What a row of a file is: a guess for `unit:`, with the question that a person must answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from incrowd._runtime.plain_fields import PlainFields
from incrowd.policy.units import ROW
from incrowd.profiling._vocabulary import match_name
from incrowd.table.person_names import PEOPLE, speaks_of
from incrowd.table.repeats import Repeats

_EVENTS = (
    "visit", "encounter", "admission", "hadm", "stay", "case", "record", "order", "specimen",
    "sample", "accession", "barcode", "device", "index", "serial", "unnamed", "fall", "aufnahme",
    "aktenzeichen", "episode", "event", "line", "result", "row",
)  # fmt: skip
"""How words begin where values stand for something that a person may have several of."""
_POINTING = ("record number", "identifier", "person name", "e-mail", "phone", "account")
"""What identifiers are about that point to people; texts, pictures and addresses do not."""
_KEYS = ("record number", "identifier")


@dataclass(frozen=True)
class UnitGuess(PlainFields):
    """What `unit:` should say, why, and whether a person must decide before anything is run."""

    unit: str
    reason: str
    undecided: bool = False


def guess_unit(identifiers: Sequence[Repeats]) -> UnitGuess:
    """The unit of a file whose identifier columns repeat so often.

    The guess fails safe: what looks like the number of a patient is the unit also where it repeats,
    and rows of one are then gathered; of other columns a person decides. A number of visits or rows
    is none of patients.
    """
    seen = [each for each in identifiers if each.distinct and each.column != ROW]
    patients = [each for each in seen if _names_people(each.column)]
    keys = [each for each in seen if _about(each.column) in _KEYS or _unnamed_key(each)]
    keys = [each for each in keys if each in patients or not _names_events(each.column)]
    pointing = [each for each in seen if _about(each.column) in _POINTING]
    repeating = [each for each in pointing if each.any and not _names_events(each.column)]
    for chosen in (*_best(patients), *_best([each for each in keys if not each.any])):
        return _of_column(chosen, [each for each in repeating if each is not chosen])
    for chosen in repeating[:1]:
        return _of_column(chosen, repeating[1:])
    return UnitGuess(
        ROW,
        "No column tells patients apart, so rows are counted. Is each row another patient? If one "
        "may have several, keep one row of each.",
    )


def no_patients(guess: UnitGuess) -> UnitGuess:
    """The guess where nothing that others may know is the same in all rows of one."""
    return UnitGuess(
        guess.unit,
        f"DECIDE: '{guess.unit}' repeats, and no column that others may know of a person is the "
        "same in all rows of one value. If it tells patients apart, say which value stands for a "
        "patient (`take:`) and what varies (`level: event`); or say `unit: row` if each row is "
        "another patient.",
        undecided=True,
    )


def _best(candidates: Sequence[Repeats]) -> list[Repeats]:
    """The first that does not repeat and is always there, or the first."""
    return sorted(candidates, key=lambda each: (each.any, each.missing > 0))[:1]


def _of_column(chosen: Repeats, others: Sequence[Repeats]) -> UnitGuess:
    row = "or say `unit: row` if each row is another patient all the same."
    if chosen.any and not chosen.missing and _names_people(chosen.column):
        return UnitGuess(
            chosen.column,
            f"'{chosen.column}' has {chosen.told}: the rows of a patient are gathered, and "
            "patients are counted. What varies between them has `level: event`.",
        )
    if chosen.any:
        return UnitGuess(
            chosen.column,
            f"DECIDE: '{chosen.column}' has {chosen.told}. If it tells patients apart, their rows "
            f"are gathered, and what varies between them has `level: event`; {row}",
            undecided=True,
        )
    if chosen.missing:
        return UnitGuess(
            chosen.column,
            f"DECIDE: '{chosen.column}' is missing in {chosen.missing:,} of {chosen.rows:,} rows. "
            f"Give each row its value, {row}",
            undecided=True,
        )
    asked = "".join(
        f" But '{each.column}' has {each.told}: is that who a row is about?" for each in others[:2]
    )
    if not _names_people(chosen.column):
        asked += " Does it number patients? If it numbers rows or visits, say `unit: row`."
    return UnitGuess(
        chosen.column, f"No value of '{chosen.column}' repeats: one row for each.{asked}"
    )


def _about(name: str) -> str:
    """What the name of a column is about; empty where no word of it is known."""
    match = match_name(name)
    return "" if match is None else match.concept.key


def _names_people(name: str) -> bool:
    return _about(name) in _KEYS and speaks_of(name, PEOPLE) and not _names_events(name)


def speaks_of_people(name: str) -> bool:
    """Whether a name of a table or a column has a word for people."""
    return speaks_of(name, PEOPLE)


def _names_events(name: str) -> bool:
    return speaks_of(name, _EVENTS)


def _unnamed_key(found: Repeats) -> bool:
    """Whether a column of an unknown name has another value in every row."""
    return not _about(found.column) and not found.any and not found.missing
