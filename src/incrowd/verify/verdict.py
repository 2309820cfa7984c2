"""What the judge hands back: one finding per promise, and the numbers it measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

    from incrowd._runtime.unchanged import Unchanged

Measured: TypeAlias = Mapping[str, "int | float | None"]
"""What was measured, by name; None stands for a number that no finite value reaches."""

MANIFEST = "manifest is whole"
SIGNATURE = "signature"
JUDGEABLE = "release is of a kind this version judges"
FILES = "files are the released ones"
READABLE = "data can be read"
COLUMNS = "columns are the promised ones"
IDENTIFIERS = "identifiers are not published"
RECORDS = "records add up"
ORDER = "rows are in sorted order"
TIED = "tables fit together"
PATIENTS = "rows of a patient belong together"
ATOMS = "facts of a patient are shown once"
HISTORIES = "patients have as many rows as stated"
FORM = "bytes are those of the cells"
LABELS = "labels of the manifest are published"
SPELLINGS = "spellings of one value count as one"
PROMISES = "promises say something"
TIMES = "dates are in the form that is stated"
UNTOUCHED = "columns published as they are"
GROUPS = "records fall into groups"
ORIGINAL = "original is the table it was made from"
STATED = "measurements are the stated ones"
_WITHHELD = (
    "every group keeps it, judged with the original; by how much is not told, for the files do not"
    " show which values belong together"
)


@dataclass(frozen=True)
class Finding:
    """One promise with the judgement on it.

    `holds` is None where what was at hand could not tell: nothing speaks against the promise, but
    only the original can show that it is kept. `detail` is a sentence of counts and column names:
    no cell of the data is ever in it. `alone` is what the files alone measure, where the original
    was needed to measure the rest.
    """

    promise: str
    holds: bool | None
    detail: str
    measured: Measured = field(default_factory=dict)
    alone: Measured | None = None
    warns: bool = False
    """Whether people must hear of it although no promise is broken."""

    def published(self) -> Finding:
        """Return the finding without what only the original tells."""
        if self.alone is None or not self.holds:
            return self
        return Finding(self.promise, self.holds, _WITHHELD, self.alone)

    def as_dict(self) -> dict[str, object]:
        """Return the finding as values that JSON can hold."""
        return {
            "promise": self.promise,
            "holds": self.holds,
            "warns": self.warns,
            "detail": self.detail,
            "measured": dict(self.measured),
        }


@dataclass(frozen=True)
class Verdict:
    """All findings on one release folder.

    `measured` has one entry per promised model, in the order of the manifest (empty where the
    model could not be judged); `groups` says how many groups there are and how large.
    `not_judged` lists what the release holds beyond what was judged. `unit`
    is what the manifest says a record stands for: `row`, or the column that told patients apart.
    """

    folder: Path
    findings: tuple[Finding, ...]
    groups: Measured
    measured: tuple[Measured, ...]
    not_judged: tuple[str, ...] = ()
    unit: str = "row"
    of_patients: bool = False
    """Whether patients were counted, who may have several rows each."""
    unchanged: tuple[Unchanged, ...] = ()
    """The columns that are published as they are, by what the manifest says of their roles."""

    @property
    def holds(self) -> bool:
        """Whether something was judged and nothing was found broken; see also `open`."""
        judged = [finding.holds for finding in self.findings if finding.holds is not None]
        return bool(judged) and all(judged)

    @property
    def broken(self) -> tuple[Finding, ...]:
        """The promises that are not kept."""
        return tuple(finding for finding in self.findings if finding.holds is False)

    @property
    def open(self) -> tuple[Finding, ...]:
        """The promises that could not be judged with what was at hand."""
        return tuple(finding for finding in self.findings if finding.holds is None)

    def published(self) -> Verdict:
        """Return the verdict as it may be told to all who get the release.

        Invariant: it is a function of the published files, of the manifest, and of whether the
        promises are kept. Where the original was needed, how well a promise is kept depends on
        which sensitive values belong together, and that is not published.
        """
        told = {id(finding.measured): finding.published().measured for finding in self.findings}
        return replace(
            self,
            findings=tuple(finding.published() for finding in self.findings),
            measured=tuple(told.get(id(each), each) for each in self.measured),
        )

    @property
    def counted(self) -> str:
        """What the numbers are numbers of, in a sentence: files show records, and not whose."""
        if self.unit == "row":
            return (
                "Records were counted, each as another patient's: a patient with several is not "
                "protected as one."
            )
        if self.of_patients:
            return (
                "Patients were counted, who may have several rows. That rows of different "
                f"pseudonyms are of different patients, told apart by {shown(self.unit)}, was seen "
                "when the release was made; the files cannot show it."
            )
        return (
            f"Records were counted. That each is another patient's, told apart by "
            f"{shown(self.unit)}, was checked when the release was made; the files cannot show it."
        )

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What breaks no promise, and whoever publishes or uses the release must know."""
        return tuple(finding for finding in self.findings if finding.warns)

    def as_dict(self) -> dict[str, object]:
        """Return the verdict as values that JSON can hold."""
        return {
            "folder": str(self.folder),
            "holds": self.holds,
            "unit": self.unit,
            "open": [finding.promise for finding in self.open],
            "warnings": [finding.detail for finding in self.warnings],
            "not_judged": list(self.not_judged),
            "unchanged": [each.as_dict() for each in self.unchanged],
            "findings": [finding.as_dict() for finding in self.findings],
            "groups": dict(self.groups),
            "measured": [dict(each) for each in self.measured],
        }


def significant(number: float) -> float:
    """Return `number` rounded to 12 significant digits, so that it is the same on every run."""
    return float(f"{number:.12g}")


def shown(name: str) -> str:
    """Return a file or column name in quotes, shortened and without control characters."""
    kept = "".join(each if each.isprintable() else "?" for each in name)
    return f"'{kept if len(kept) <= 60 else kept[:57] + '...'}'"


def listed(problems: Sequence[str], most: int = 5) -> str:
    """Return the first problems as one text, and how many more there are."""
    more = len(problems) - most
    told = "; ".join(problems[:most])
    return f"{told}; and {counted(more, 'more problem')}" if more > 0 else told


def counted(number: int, thing: str) -> str:
    """Return `number` with its noun in the singular or the plural, as in "3 records"."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
