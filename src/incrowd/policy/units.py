"""The unit of privacy: whose the rows of a source are.

A patient with several rows could be a crowd alone, so identifiers whose values repeat are refused
before any work, unless the policy says what a row is (`unit:`). Where a column tells patients
apart, rows are gathered to one profile for each patient, and patients are counted.

Messages name columns and counts, never a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from incrowd._runtime.manifests import counts_rows
from incrowd._runtime.sentences import listed
from incrowd.errors import PolicyError
from incrowd.table.profiles import PATIENT
from incrowd.table.repeats import SAME, Repeats

if TYPE_CHECKING:
    from incrowd.policy._schema import Policy

ROW = "row"
"""What `unit:` says where each row is another patient."""
KNOWN_EVENTS = (
    "who knows some of a patient's events, or how many rows a patient has, may find the patient "
    "among the rows: no promise of this release is about that."
)
NOT_IN_TWO = (
    "no patient may be in two hospitals: nobody sees it, and a patient of two hospitals counts "
    "twice and is not protected as one"
)
"""What a joint release of hospitals rests on."""
_NAMED = 5
_TOLD_TWO = f"{NOT_IN_TWO[0].upper()}{NOT_IN_TWO[1:]}."


def named(policy: Policy) -> bool:
    """Whether a policy names the column that tells patients apart, who may have several rows."""
    return policy.unit not in (None, ROW)


def looked_at(policy: Policy) -> list[str]:
    """The identifier columns whose repeats matter: the unit, all where none is named, or none."""
    if policy.unit == ROW:
        return []
    if policy.unit is not None:
        return [policy.unit]
    return [name for name, asked in policy.attributes.items() if asked.role == "identifier"]


def check_unit(policy: Policy, found: Sequence[Repeats], name: str) -> tuple[str, ...]:
    """Refuse a source whose rows are not its patients; returns what a person should know of it.

    Parameters
    ----------
    policy
        The policy, with or without `unit:`.
    found
        The repeats of the columns that `looked_at` names.
    name
        The source, for messages.

    Raises
    ------
    PolicyError
        An identifier repeats, or the unit is missing in a row: with the counts and the remedies.
    """
    if policy.unit is None:
        repeating = [each for each in found if each.any]
        if repeating:
            raise PolicyError(_undecided(repeating, found, name))
        return tuple(_told_missing(each) for each in found if each.missing)
    for each in found:
        _refuse_missing(each, name)
        if each.any and policy.publish != "generalized":
            raise PolicyError(
                f"publish: {policy.publish} is for one row a patient, and '{each.column}' has "
                f"{each.told} of {name}. Say `publish: generalized`, or keep one row of each "
                "patient."
            )
    return ()


def check_key(policy: Policy) -> None:
    """Refuse a secret key where no pseudonym could follow from it.

    Raises
    ------
    PolicyError
        With what to do about it.
    """
    if policy.unit in (None, ROW):
        raise PolicyError(
            "A key gives each patient the same pseudonym in every release, and this policy names "
            f"no column that tells patients apart: {_no_unit(policy)}. Say `unit: COLUMN`, an "
            "identifier, or leave the key out."
        )
    if policy.publish != "generalized":
        raise PolicyError(
            f"publish: {policy.publish} has no column of pseudonyms. With a key say `publish: "
            "generalized`, or leave the key out."
        )


def _no_unit(policy: Policy) -> str:
    return "it has no `unit:`" if policy.unit is None else "`unit: row`, each row is another's"


def has_events(policy: Policy) -> bool:
    """Whether a policy says that something varies between the rows of a patient."""
    return any(asked.level == "event" for asked in policy.attributes.values())


def _undecided(repeating: Sequence[Repeats], found: Sequence[Repeats], name: str) -> str:
    """Why a source with a repeating identifier needs `unit:`, and how to choose it."""
    first = repeating[0]
    named = [f"'{each.column}' ({each.told})" for each in repeating]
    alone = [each for each in found if not each.any and not each.missing]
    other = (
        f" If '{alone[0].column}', whose values do not repeat, names the patient, say "
        f"`unit: {alone[0].column}`."
        if alone
        else ""
    )
    return (
        f"Values of an identifier repeat in {name}: {listed(named, _NAMED, quoted=False)}. "
        f"{SAME} A patient with several rows could be a crowd alone, so the policy must say what "
        f"a row is. Say `unit: row` if each row is another patient all the same.{other} Say "
        f"`unit: {first.column}` if it names the patient: rows of one are gathered, and columns "
        "that vary between them are given `level: event`."
    )


def _refuse_missing(found: Repeats, name: str) -> None:
    """Refuse a unit that is missing in rows."""
    missing = found.told_missing("unit", name)
    if missing:
        raise PolicyError(
            f"{missing} If each row is another patient all the same, say `unit: row`."
        )


def _told_missing(found: Repeats) -> str:
    return (
        f"'{found.column}' is missing in {found.missing:,} of {found.rows:,} rows; each is counted "
        "as another patient's. Say `unit: row` if that is so."
    )


def one_counted(manifest: Mapping[str, Any]) -> str:
    """What one of the things that a release counts is called.

    A record may be a patient's only one, as the source was seen to be; that is told by `told_unit`.
    """
    return "patient" if counts_rows(manifest) else "record"


def counts_patients(manifest: Mapping[str, Any]) -> bool:
    """Whether the records of a release were seen to be of different patients.

    Hospitals see their own rows only: nobody knows whether a patient is in two of them.
    """
    return manifest.get("unit", ROW) != ROW and "hospitals" not in manifest


def told_unit(manifest: Mapping[str, Any]) -> str:
    """What the counts of a release are about, in words for its readers."""
    unit = manifest.get("unit", ROW)
    if unit == ROW:
        told = (
            "Records are counted, each as another patient's. A patient with several records is "
            "not protected as one: nobody checked that there is none."
        )
        return f"{told} {_TOLD_TWO}" if "hospitals" in manifest else told
    if "tables" in manifest:
        return (
            "Patients are counted: each has one row in the table of patients, and any number in "
            f"the others. They were told apart by '{unit}', and in the release are by the column "
            f"'{PATIENT}' of every table. The published files cannot show that rows of different "
            "pseudonyms are of different people."
        )
    if counts_rows(manifest):
        return (
            f"Patients are counted, each of whom may have several rows: they were told apart by "
            f"'{unit}', and in the release are by the column '{PATIENT}'. The published files "
            "cannot show that rows of different pseudonyms are of different people."
        )
    if "hospitals" in manifest:
        return (
            f"Records are counted. Each hospital saw that none of its own patients, told apart by "
            f"'{unit}', has two. {_TOLD_TWO}"
        )
    return (
        f"Records are counted, and each is another patient's: patients were told apart by "
        f"'{unit}', which did not repeat in the source. The published files cannot show that."
    )
