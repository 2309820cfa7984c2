"""What stays behind a release: the records it was made from, for the judge and for the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd._runtime.manifests import Manifest
from incrowd.publish._writing import write_whole
from incrowd.published.layouts import GROUP

if TYPE_CHECKING:
    from incrowd._runtime.secret_key import SecretKey
    from incrowd.methods.base import Outcome
    from incrowd.privacy import PrivacyModel
    from incrowd.publish.rows import ShownRows
    from incrowd.published.granularity import Seen
    from incrowd.published.opened import ReleaseLike
    from incrowd.sources.source_guard import Watch
    from incrowd.table import MemoryTable, Table
    from incrowd.verify import Verdict

Writer = Callable[[Path, str, "ShownRows"], dict[str, Any]]
"""Writes a table into a folder under a name; gives what the manifest says of its files."""


class Reporter(Protocol):
    """What writes the reports of a release; the room of reports has it."""

    evidence: Any
    """What was counted in the release, once its report is written."""

    def seen(self, manifest: Manifest) -> Sequence[Seen]:
        """What an analyst sees of each quasi-identifier."""

    def write(self, folder: Path, manifest: Manifest, verdict: Verdict) -> dict[str, Any]:
        """Write report.html into a folder; gives what the manifest says of it."""

    def refuse_private(self, path: Path, folder: Path, *, replace: bool) -> None:
        """Refuse a private report that cannot be made, or in a place where it may not be."""

    def write_private(self, path: Path, release: ReleaseLike, verdict: Verdict) -> None:
        """Write the private report: a file that only its owner may read."""


class Unshared:
    """Something that holds records of the source, and so never leaves its process or is doubled."""

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        raise TypeError(
            f"{type(self).__name__} holds records of the source, which are not published, so it "
            "can be neither pickled nor copied. Save the release, and open its folder."
        )

    def __repr__(self) -> str:
        """The name alone: cells of the source are not shown."""
        return f"<{type(self).__name__}: records of the source>"


@dataclass(frozen=True, repr=False, eq=False)
class Unpublished(Unshared):
    """What saving a release needs beside what it publishes."""

    original_groups: OriginalGroups | None = None
    """The records, where the judge needs them."""
    reporting: Reporter | None = None
    """What the report is made from."""
    watch: Watch | None = None
    """The source as it was when the run began: looked at again before the release appears."""
    writer: Writer = write_whole
    judge: Literal["duckdb", "spark"] = "duckdb"
    key: SecretKey | None = None
    """The key that pseudonyms follow from: its file may not lie in the release."""


class OriginalGroups(Unshared):
    """The quasi-identifiers and sensitive attributes of the published records, and their groups.

    Never written anywhere: the judge gets them in memory, while the release is saved.
    """

    def __init__(self, table: MemoryTable, group: npt.NDArray[np.integer]) -> None:
        self._columns = table.of_role("quasi", "sensitive")
        self._rows = table.tally.repeated(np.arange(table.rows))
        self._group = group

    def frame(self) -> pl.DataFrame:
        """The records, dates as dates and all other cells as text, null where missing."""
        columns = []
        for column in self._columns:
            values = pl.Series(column.name, [*column.values, None], pl.String)
            if column.kind == "date":
                values = values.str.to_date("%Y-%m-%d")
            columns.append(values.gather(column.codes[self._rows]))
        columns.append(pl.Series(GROUP, self._group[self._rows] + 1))
        return pl.DataFrame(columns)


def original_groups(
    publish: str, models: tuple[PrivacyModel, ...], table: Table, outcome: Outcome
) -> OriginalGroups | None:
    """The records that the judge needs beside the published tables, None if it needs none."""
    if publish != "anatomy" or not any(model.counts_jointly for model in models):
        return None
    assert isinstance(outcome.group_of_record, np.ndarray)
    return OriginalGroups(table.in_memory(), outcome.group_of_record)
