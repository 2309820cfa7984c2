"""Release: the published tables with their manifest, in memory or in a folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload, runtime_checkable

from incrowd.errors import InputError, VerificationError
from incrowd.publish import manifest as manifests
from incrowd.publish.folder import refuse_unsafe_output, refuse_url, staged
from incrowd.publish.writing import write_whole

if TYPE_CHECKING:
    import polars as pl

    from incrowd.publish.behind import Behind
    from incrowd.publish.rows import ShownRows
    from incrowd.query import Estimate
    from incrowd.report.evidence import Evidence
    from incrowd.report.reporting import Reporting
    from incrowd.verify import Verdict


Writer = Callable[[Path, str, "ShownRows"], dict[str, Any]]
"""Writes a table into a folder under a name; gives what the manifest says of its files."""


@runtime_checkable
class ReleaseLike(Protocol):
    """Anything with published tables and a manifest."""

    @property
    def manifest(self) -> dict[str, Any]:
        """What the release promises and what was measured."""

    @property
    def data(self) -> pl.DataFrame:
        """The published table of records, as text."""

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """Every published table by the name of its file, without the ending; records first."""


class Queried:
    """What an analyst asks of a release, in memory or in a folder."""

    def query(
        self: ReleaseLike,
        text: str,
        *,
        hierarchies: Mapping[str, Mapping[str, Collection[Any]]] | None = None,
    ) -> Estimate:
        """The estimated number of records that satisfy conditions, see `incrowd.query.query`.

        Example
        -------
        >>> import incrowd, polars
        >>> frame = polars.DataFrame({"age": [30, 31, 50, 52], "ill": ["Flu", "HIV", "Flu", "Flu"]})
        >>> release = incrowd.anonymize(frame, {
        ...     "attributes": {"age": "quasi", "ill": "sensitive"},
        ...     "privacy": [{"k-anonymity": {"k": 2}}], "publish": "anatomy"})
        >>> release.query("age <= 30 and ill = Flu").count
        0.5
        """
        from incrowd.query import query

        return query(self, text, hierarchies=hierarchies)

    def join(self: ReleaseLike, *, attributes: Sequence[str] | None = None) -> pl.DataFrame:
        """The tables as one, with the probability of every row, see `incrowd.query.join`."""
        from incrowd.query import join

        return join(self, attributes=attributes)


class Release(Queried):
    """A table that was made private, not yet written; `save` writes, verifies and publishes it."""

    def __init__(
        self,
        rows: Mapping[str, ShownRows],
        draft: dict[str, Any],
        *,
        file_format: Literal["csv", "parquet"],
        behind: Behind | None = None,
        memory: int | None = None,
        writer: Writer = write_whole,
        judge: Literal["duckdb", "spark"] = "duckdb",
        remarks: Sequence[str] = (),
        reporting: Reporting | None = None,
    ) -> None:
        self.remarks = tuple(remarks)
        """What was done otherwise than one might expect."""
        self._rows = rows
        self._memory = memory
        self._write = writer
        self._judge: Literal["duckdb", "spark"] = judge
        self._behind = behind
        self._format = file_format
        self._reporting = reporting
        self.manifest = draft

    @property
    def data(self) -> pl.DataFrame:
        """The published table of records, all cells as text, null where missing."""
        return next(iter(self.tables.values()))

    @cached_property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every published table by the name of its file, without the ending; records first."""
        return {name: rows.frame() for name, rows in self._rows.items()}

    @property
    def evidence(self) -> Evidence | None:
        """What was counted in the release for its report; None before `save` wrote one."""
        return None if self._reporting is None else self._reporting.evidence

    def save(
        self,
        folder: str | Path,
        *,
        source: Path | None = None,
        sign: str | Path | None = None,
        report: bool = True,
        private_report: str | Path | None = None,
        progress: Callable[[str], None] = lambda _stage: None,
        confirm: Callable[[dict[str, Any]], None] = lambda _manifest: None,
    ) -> Verdict:
        """Write the release to a folder, which appears only once the judge has verified it.

        An older release in that place is replaced in one step. Raises VerificationError, and
        leaves nothing behind, when the files do not keep their promises. `confirm` gets the final
        manifest before the folder appears; when it raises, nothing appears. `report` is whether
        the folder gets a report.html as well; `private_report` names a file outside of it for a
        second one, which holds the source against the release and is not for publication.
        """
        from incrowd.verify import verify

        refuse_url(folder)
        folder = Path(folder)
        key = Path(sign) if sign is not None else None
        if key is not None:
            manifests.load_signing_key(key)
        refuse_unsafe_output(folder, source)
        private = None if private_report is None else Path(private_report)
        if private is not None:
            self._reports().refuse_private(private, folder)
        with staged(folder) as stage:
            progress("writing")
            files = self._write_tables(stage)
            manifest = {**self.manifest, "files": files}
            manifests.write(manifests.sealed(manifest), stage)
            progress("verifying")
            original = None if self._behind is None else self._behind.frame()
            verdict = verify(stage, original=original, memory=self._memory, engine=self._judge)
            if not verdict.holds or verdict.open:
                broken = (*verdict.broken, *verdict.open)
                told = "; ".join(f"{each.promise}: {each.detail}" for each in broken)
                raise VerificationError(f"The release does not verify and was not written. {told}")
            manifest["measured"] = [dict(each) for each in verdict.measured]
            manifest["groups"] = dict(verdict.groups)
            if report and self._reporting is not None:
                progress("reporting")
                manifest["files"] |= self._reporting.write(stage, manifest, verdict)
            manifest = manifests.sealed(manifest, key)
            manifests.write(manifest, stage)
            confirm(manifest)
        self.manifest = manifest
        if private is not None:
            progress("measuring")
            self._reports().write_private(private, self, verdict)
        return verdict

    def _reports(self) -> Reporting:
        if self._reporting is None:
            raise InputError("Nothing is known here of the source: there is no private report.")
        return self._reporting

    def _write_tables(self, folder: Path) -> dict[str, Any]:
        files: dict[str, Any] = {}
        for table, rows in self._rows.items():
            files |= self._write(folder, f"{table}.{self._format}", rows)
        return files


class SavedRelease(Queried):
    """A release in a folder, opened for reading; it is not verified by opening it."""

    def __init__(self, folder: Path, manifest: dict[str, Any]) -> None:
        self.folder = folder
        self.manifest = manifest

    @cached_property
    def data(self) -> pl.DataFrame:
        """The published table of records, all cells as text, null where missing."""
        return next(iter(self.tables.values()))

    @cached_property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every published table by the name of its file, without the ending."""
        from incrowd.publish.saved import read_tables

        return read_tables(self.folder, self.manifest["files"])


@overload
def open_release(release: str | Path) -> SavedRelease: ...
@overload
def open_release(release: ReleaseLike | str | Path) -> ReleaseLike: ...
def open_release(release: ReleaseLike | str | Path) -> ReleaseLike:
    """The release in a folder; a release object is returned as it is."""
    if not isinstance(release, (str, Path)):
        return release
    folder = Path(release)
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        kind = "has no manifest.json" if folder.is_dir() else "does not exist"
        raise InputError(f"'{folder}' is not a release: it {kind}.") from None
    except (OSError, ValueError):
        raise InputError(f"The manifest of '{folder}' cannot be read.") from None
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise InputError(f"The manifest of '{folder}' is not that of a release.")
    return SavedRelease(folder, manifest)
