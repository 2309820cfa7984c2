"""Where a hospital puts what a run gives it: the joint release, and the own share beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from incrowd._runtime.scratch import staging
from incrowd.errors import InputError, OutputError
from incrowd.federation.run._own_records import shared_part
from incrowd.pipeline import place_for_release
from incrowd.policy import Policy
from incrowd.publish.destination import Destination
from incrowd.publish.release import open_release
from incrowd.publish.rows import ShownRows
from incrowd.sources import Source, read
from incrowd.sources.source_guard import Watch


@dataclass(frozen=True)
class Places:
    """The folder of the release, the file of the own share, and whether old ones may go."""

    output: Path
    asked_share: Path | None = None
    replace: bool = False

    @property
    def share(self) -> Path:
        """The file of the own share."""
        return self.asked_share or self.output.with_name(f"{self.output.name}-share.csv")

    def checked(self, source: Source, policy: Policy) -> Destination:
        """The folder of the release; refuses places that would mix it, the share and own records.

        The source is watched from now on, until the release appears.
        """
        watch = Watch(source)
        release = place_for_release(watch, self.output, shared_part(policy), replace=self.replace)
        place, folder = self.share.resolve(), release.folder
        if place == folder or folder in place.parents:
            raise OutputError(
                "The own share may not lie in the folder of the release: it tells whose records "
                "they are. Name another place."
            )
        if source.path is not None and place == source.path.resolve():
            raise OutputError("The own share would replace the own records. Name another place.")
        if place.is_dir() or not place.parent.is_dir():
            raise OutputError(f"The own share cannot be written to '{self.share}': name a file.")
        if place.exists():
            self._refuse_standing(place, None if release.before is None else folder)
        return release

    def _refuse_standing(self, place: Path, release: Path | None) -> None:
        """Refuse to replace a file, unless it is the own share of the release that goes with it."""
        if not self.replace:
            raise OutputError(
                f"The own share '{self.share}' exists. Name another file (--share), or replace it "
                "with its release: --replace (in Python replace=True)."
            )
        if release is None or not _is_share(place, release):
            raise OutputError(
                f"The file '{self.share}' is not the own share of the release that is replaced, "
                "so it stays. Name another file (--share), or move it away."
            )


def _is_share(place: Path, release: Path) -> bool:
    """Whether a file holds nothing but records as a release shows them."""
    import polars as pl

    with suppress(InputError):
        shown = open_release(release).data
        held = read(place, separator=",").cast(pl.String)
        if held.columns == shown.columns:
            return held.join(shown, on=held.columns, how="anti", nulls_equal=True).is_empty()
    return False


@contextmanager
def staged_share(rows: ShownRows, share: Path) -> Iterator[None]:
    """The own share in a file beside its place; it takes its place when the block ends well."""
    place = share.resolve()
    with ExitStack() as held:
        try:
            stage = held.enter_context(staging(place)) / place.name
            stage.touch(mode=0o600)
            with stage.open("wb") as stream:
                for number, piece in enumerate(rows.pieces()):
                    piece.write_csv(stream, include_header=number == 0)
        except OSError as error:
            raise OutputError(f"The own share cannot be written: {error.strerror}.") from None
        yield
        stage.replace(place)
