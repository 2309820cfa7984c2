"""Release: the published tables with their manifest, in memory or in a folder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from reprlib import repr as _few
from typing import TYPE_CHECKING, Any, Literal, overload
from weakref import WeakKeyDictionary

from incrowd._runtime.manifests import counts_in
from incrowd.errors import InputError
from incrowd.policy.units import one_counted
from incrowd.publish import manifest as manifests
from incrowd.publish.destination import Destination, destination
from incrowd.publish.difference import Difference, columns_of
from incrowd.publish.folder import staged
from incrowd.publish.key_files import refuse_key_in
from incrowd.publish.last_look import judged, last_look
from incrowd.publish.original_records import Unpublished
from incrowd.published.escaping import is_escaped
from incrowd.published.opened import OpenedRelease, ReleaseLike

if TYPE_CHECKING:
    import polars as pl

    from incrowd.publish.original_records import Writer
    from incrowd.publish.rows import ShownRows
    from incrowd.published.granularity import Seen
    from incrowd.query import Estimate
    from incrowd.verify import Verdict


class Queried:
    """What an analyst asks of a release, in memory or in a folder."""

    def query(
        self: ReleaseLike,
        text: str,
        *,
        hierarchies: Mapping[str, Mapping[str, Collection[Any]]] | None = None,
        events: bool = False,
    ) -> Estimate:
        """The estimated number of records that satisfy conditions, see `incrowd.query.query`.

        Of patients with several rows: of patients, or with `events` of rows.

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

        return query(self, text, hierarchies=hierarchies, events=events)

    def join(self: ReleaseLike, *, attributes: Sequence[str] | None = None) -> pl.DataFrame:
        """The tables as one, with the probability of every row, see `incrowd.query.join`."""
        from incrowd.query import join

        return join(self, attributes=attributes)


class Release(Queried):
    """A table that was made private, not yet written; `save` writes, verifies and publishes it.

    Invariant: all that an instance holds is published or goes into the manifest, so it may be
    pickled, copied and printed. What still needs the source is looked up beside it, in this
    process alone; a copy is without it, and is saved without a report.
    """

    def __init__(
        self,
        rows: Mapping[str, ShownRows],
        draft: dict[str, Any],
        *,
        file_format: Literal["csv", "parquet"],
        memory: int | None = None,
        remarks: Sequence[str] = (),
        unpublished: Unpublished | None = None,
    ) -> None:
        self.remarks = tuple(remarks)
        """What was done otherwise than one might expect."""
        self.replaced: Difference | None = None
        """How it differs from the release that it replaced, once `save` did that."""
        self._rows = rows
        self._memory = memory
        self._format = file_format
        self.manifest = draft
        if unpublished is not None:
            _UNPUBLISHED[self] = unpublished

    def __getstate__(self) -> dict[str, Any]:
        held = {name: value for name, value in vars(self).items() if name != "tables"}
        return held | {"remarks": ()}  # which are for the person at the keyboard

    def __repr__(self) -> str:
        """What it promises, and of how many records and which columns; no cell of them."""
        promises = "; ".join(map(_in_short, self.manifest["promises"]))
        records, who = counts_in(self.manifest)["published"], f"{one_counted(self.manifest)}s"
        return f"<Release: {promises}; {records:,} {who} of {_few(columns_of(self.manifest))}>"

    @property
    def data(self) -> pl.DataFrame:
        """The published table of records, all cells as text, null where missing.

        Of linked tables it is that of the patients.
        """
        return next(iter(self.tables.values()))

    @cached_property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every published table by the name of its file, without the ending; records first."""
        return {name: rows.frame() for name, rows in self._rows.items()}

    @property
    def seen(self) -> Sequence[Seen]:
        """What an analyst sees of each quasi-identifier; a copy leaves that to be counted."""
        reporting = _UNPUBLISHED.get(self, Unpublished()).reporting
        return () if reporting is None else reporting.seen(self.manifest)

    @property
    def evidence(self) -> Any:
        """What was counted in the release for its report; None before `save` wrote one."""
        reporting = _UNPUBLISHED.get(self, Unpublished()).reporting
        return None if reporting is None else reporting.evidence

    def save(
        self,
        folder: str | Path | Destination,
        *,
        source: Path | None = None,
        replace: bool = False,
        sign: str | Path | None = None,
        report: bool = True,
        private_report: str | Path | None = None,
        progress: Callable[[str], None] = lambda _stage: None,
        confirm: Callable[[dict[str, Any]], None] = lambda _manifest: None,
    ) -> Verdict:
        """Write the release to a folder, which appears only once the judge has verified it.

        An older release in that place is an OutputError; with `replace` it is replaced in one
        step, and `replaced` tells how the two differ and what follows. Raises VerificationError,
        and leaves nothing behind, when the files do not keep their promises. The folder may not
        hold the file of the records or lie in it, and that file must still be what it was; a copy
        of a release is told by `source` which file that is. `confirm` gets the final manifest
        before the folder appears; when it raises, nothing appears. `report` is whether the folder
        gets a report.html as well; `private_report` names a file outside of it for a second one,
        which holds the source against the release and is not for publication.
        """
        unpublished = _UNPUBLISHED.get(self)
        if unpublished is None:
            if report:
                raise InputError(
                    "This release was pickled or copied, and what its report is made from stayed "
                    "with the one that was made. Save that one, or say report=False."
                )
            unpublished = Unpublished()
        key = Path(sign) if sign is not None else None
        if key is not None:
            manifests.load_signing_key(key)
        if not isinstance(folder, Destination):
            published = columns_of(self.manifest)
            known = source if source is not None else unpublished.watch
            folder = destination(folder, known, replace=replace, columns=published)
        if unpublished.key is not None:
            refuse_key_in(unpublished.key, folder.folder)
        private = None if private_report is None else Path(private_report)
        reporting = unpublished.reporting
        if private is not None:
            if reporting is None:
                raise InputError("Nothing is known here of the source: there is no private report.")
            reporting.refuse_private(private, folder.folder, replace=replace)
        with staged(folder) as stage:
            progress("writing")
            files = self._write_tables(stage, unpublished.writer)
            manifest = {**self.manifest, "files": files}
            manifests.write(manifests.sealed(manifest), stage)
            progress("verifying")
            groups = unpublished.original_groups
            original = None if groups is None else groups.frame()
            verdict = judged(
                stage, original=original, memory=self._memory, engine=unpublished.judge
            )
            public = verdict.published()
            manifest["measured"] = [dict(each) for each in public.measured]
            manifest["groups"] = dict(public.groups)
            if report and reporting is not None:
                progress("reporting")
                manifest["files"] |= reporting.write(stage, manifest, public)
            manifest = manifests.sealed(manifest, key)
            manifests.write(manifest, stage)
            if folder.before is not None:
                progress("comparing with the release that is replaced")
            self.replaced = last_look(folder, stage, self._memory)
            confirm(manifest)
        self.manifest = manifest
        if private is not None and reporting is not None:
            progress("measuring")
            reporting.write_private(private, self, verdict)
        return verdict

    def _write_tables(self, folder: Path, write: Writer) -> dict[str, Any]:
        files: dict[str, Any] = {}
        for table, rows in self._rows.items():
            name = f"{table}.{self._format}"
            if not is_escaped(self.manifest):
                files |= write(folder, name, rows)
                continue
            written = write(folder, name, rows.escaped())
            # The manifest names columns as they are called, whatever the header shows.
            files |= {each: {**entry, "columns": rows.names} for each, entry in written.items()}
        return files


def _in_short(promise: Mapping[str, Any]) -> str:
    """The model of a promise with its numbers; the values it may name are left out."""
    parameters = promise["parameters"].items()
    numbers = [f"{name} = {value}" for name, value in parameters if isinstance(value, (int, float))]
    return f"{promise['model']} ({', '.join(numbers)})"


_UNPUBLISHED: WeakKeyDictionary[Release, Unpublished] = WeakKeyDictionary()
"""What saving needs of the source, for as long as the release it belongs to is there."""


class SavedRelease(Queried, OpenedRelease):
    """A release in a folder, opened for reading; it is not verified by opening it."""


@overload
def open_release(release: str | Path) -> SavedRelease: ...
@overload
def open_release(release: ReleaseLike | str | Path) -> ReleaseLike: ...
def open_release(release: ReleaseLike | str | Path) -> ReleaseLike:
    """The release in a folder; a release object is returned as it is."""
    return SavedRelease.of(Path(release)) if isinstance(release, (str, Path)) else release
