"""What the figures of policies side by side are about."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.comparison._candidates import Candidate


def counted_by(candidates: Sequence[Candidate]) -> str:
    """`patient` where all releases count patients, else `record`."""
    found = {each.one for each in candidates if each.problem is None}
    return "patient" if found == {"patient"} else "record"
