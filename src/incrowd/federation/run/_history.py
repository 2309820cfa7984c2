"""What a hospital's earlier runs mean for one that is about to begin, and its own entry for it.

Two runs over the same records with other members differ by the counts of those who are in one of
them alone. So a hospital that brings records which it brought before does not join others than
then, unless every member of both runs consented that the difference is seen. One hospital that does
not join is enough: a run begins when all are there, and nothing is opened before.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from incrowd.errors import InputError
from incrowd.federation.membership.consents import FOLDER, Change, Consents, Roster, consents_to
from incrowd.federation.membership.ledgers import EarlierMember, EarlierRun, Ledger, least_as_text
from incrowd.federation.membership.sketches import marks_of

if TYPE_CHECKING:
    from incrowd.federation.membership.kits import Kit
    from incrowd.federation.run._earlier_cuts import NamedCuts
    from incrowd.federation.run._own_records import OwnRecords


class History:
    """The earlier runs of a hospital, held against one that it is about to take part in.

    Parameters
    ----------
    kit
        The kit of the new run.
    own
        The records that this hospital brings.
    ledger
        Its own.
    again
        Whether the person takes it that what this release shows is not judged together with
        earlier ones that cannot be compared with it.
    """

    def __init__(self, kit: Kit, own: OwnRecords, ledger: Ledger, *, again: bool = False) -> None:
        self._kit = kit
        self._again = again
        self._layout = own.layout
        self._ledger = ledger
        self._new = Roster.of(kit.consortium)
        self._marks = marks_of(own.table, own.layout, ledger.key)
        self._id = secrets.token_hex(8)
        self._earlier: list[EarlierRun] = []
        self._left_out: list[EarlierRun] = []
        """Runs that showed some of these records, and are not judged together with this one."""

    def checked(self) -> list[str]:
        """What people should know of the earlier runs, line by line.

        Raises
        ------
        InputError
            When a member of an earlier run over these records, or of the new one, has not
            consented to the difference being seen: who, and what to do.
        """
        runs = self._ledger.runs
        consented = self._refuse_unconsented(runs)
        self._earlier = self._refuse_incomparable(runs)
        told = [
            f"history: an earlier run over these records had other members, and all members of "
            f"both consented. {change.in_words}"
            for change in consented
        ]
        if self._earlier:
            told.append(
                f"history: {_runs(len(self._earlier))} showed some of these records; this hospital "
                "objects to what would not be private together with that"
            )
        return told + self._of_same_members(runs)

    @property
    def earlier(self) -> list[NamedCuts]:
        """What earlier releases show of these records, as runs of the same codes."""
        return [run.shown for run in self._earlier if run.shown is not None]

    def show(self, cuts: NamedCuts) -> None:
        """Note what the release will show; refuse it if another one came between."""

        def alone(runs: Sequence[EarlierRun]) -> None:
            known = {run.id for run in (*self._earlier, *self._left_out)}
            new = [run for run in runs if run.id not in known and run.id != self._id]
            if self._that_showed(new):
                raise InputError(
                    "Another run of this hospital over the same records came in between, and what "
                    "both show together was not judged. Start again."
                )

        self._ledger.show(self._id, cuts, alone)

    def begin(self) -> None:
        """Write the run into the ledger; refuse it if another one came between.

        Two runs that begin at the same time see each other here: the ledger is locked meanwhile.
        """
        sketch = self._marks.sketch
        consortium = self._kit.consortium
        run = EarlierRun(
            id=self._id,
            begun=datetime.now(UTC).isoformat(timespec="seconds"),
            hospital=self._kit.name,
            consortium=self._new.digest,
            consortium_id=consortium.id,
            members=tuple(
                EarlierMember(name=name, identity=key) for name, key in self._new.members
            ),
            policy=consortium.policy,
            records=sketch.records,
            columns=sketch.columns,
            layout=sketch.layout,
            least=least_as_text(sketch),
        )
        self._ledger.begin(run, self._refuse_unconsented)

    def end(self, transcript: str) -> None:
        """Note that the run came to its end."""
        self._ledger.finish(self._id, transcript)

    def _refuse_unconsented(self, runs: Sequence[EarlierRun]) -> list[Change]:
        """The changes of members that all consented to; fails at one that not all did."""
        found: dict[str, Change] = {}
        for run in runs:
            change = self._change(run)
            if change.is_none or run.consortium in found:
                continue
            share = self._marks.overlap(run.sketch)
            if share == 0.0:
                continue
            consents = consents_to(change, self._kit.folder)
            if consents.missing:
                raise InputError(self._refusal(run, change, share, consents))
            found[run.consortium] = change
        return list(found.values())

    def _refuse_incomparable(self, runs: Sequence[EarlierRun]) -> list[EarlierRun]:
        """The earlier runs that showed some of these records; fails at one with other codes.

        Only `protect: own` promises anything about several runs.
        """
        shown = self._that_showed(runs)
        policy = self._kit.consortium.policy
        other = [r for r in shown if (r.policy, r.layout) != (policy, self._layout)]
        if self._kit.policy.hospitals.level != "own":
            self._left_out = shown
            return []
        if other and not self._again:
            raise InputError(
                f"This hospital's records, or some of them, were shown by an earlier run "
                f"({other[-1].begun[:10]}) under another policy. Whoever has both releases knows "
                "the narrower label of each value, and nobody can judge that here: the values are "
                "not arranged alike. Take the policy of that run; or say --again (in Python "
                "again=True), if what both show together may be seen. Nothing was sent."
            )
        self._left_out = other
        return [run for run in shown if run not in other]

    def _that_showed(self, runs: Sequence[EarlierRun]) -> list[EarlierRun]:
        """The runs of this hospital whose releases show some of these records."""
        name, key = self._kit.name, self._new.members[self._kit.place][1]
        return [
            run
            for run in runs
            if run.shown
            and (
                run.hospital == name
                or EarlierMember(name=run.hospital, identity=key) in run.members
            )
            and self._marks.overlap(run.sketch) != 0.0
        ]

    def _refusal(
        self, run: EarlierRun, change: Change, share: float | None, found: Consents
    ) -> str:
        """Why this hospital does not take part, who must consent, and how."""
        over = (
            "over other columns, so that nobody can tell whether it was over these records"
            if share is None
            else f"over about {_percent(share)} of these records"
        )
        void = f" Not counted: {'; '.join(found.odd)}." if found.odd else ""
        return (
            f"This hospital took part in an earlier run ({run.begun[:10]}, consortium "
            f"{run.consortium[:12]}) {over}, and its members were others. {change.in_words} So "
            f"every member of both must consent; missing: {', '.join(found.missing)}.{void} Each "
            "says `incrowd federation consent KIT --earlier EARLIER/consortium.yaml` (whoever is "
            "not in the new run: `consent EARLIER-KIT --new NEW/consortium.yaml`) and sends the "
            f"file to all others, who lay it into '{self._kit.folder / FOLDER}'. Nothing was sent."
        )

    def _of_same_members(self, runs: Sequence[EarlierRun]) -> list[str]:
        """What the earlier runs of the same members tell together with the new one."""
        own = [run for run in runs if run.hospital == self._kit.name]
        same = [run for run in own if self._change(run).is_none]
        overlaps = [(run, self._marks.overlap(run.sketch)) for run in same]
        known = [run for run, share in overlaps if share]
        unknown = sum(share is None for _, share in overlaps)
        lines = []
        if known:
            share = self._marks.share([run.sketch for run in known])
            other = any(run.policy != self._kit.consortium.policy for run in known)
            sides = ", and under another policy other sides of the same ones" if other else ""
            lines.append(
                f"history: about {_percent(share)} of these records were in {_runs(len(known))} of "
                f"the same hospitals, the last on {known[-1].begun[:10]}; differences between "
                f"them show the records that came or went{sides}"
            )
            if any(self._change(run).by_name for run in known):
                lines.append(
                    "history: all keys are new since then, so hospitals are taken for the same by "
                    "their names. Compare identities by telephone, or keep them: enrol --identity"
                )
        if unknown:
            lines.append(
                f"history: {_runs(unknown)} of the same hospitals had other columns; nobody can "
                "tell whether these records were in it, and what all show together adds up"
            )
        return lines

    def _change(self, run: EarlierRun) -> Change:
        members = tuple((each.name, each.identity) for each in run.members)
        return Change(Roster(run.consortium, members), self._new)


def _percent(share: float) -> str:
    """A share in words; one above none is never told as none."""
    percent = round(100 * share)
    return f"{percent} %" if percent else "less than 1 %"


def _runs(many: int) -> str:
    return "1 earlier run" if many == 1 else f"{many} earlier runs"
