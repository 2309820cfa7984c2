"""Which patterns of the original a release keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from incrowd._runtime.plain_fields import PlainFields
from incrowd.utility.pattern_mining._rules import surely
from incrowd.utility.pattern_mining.tree import Bucket, Records

Fate = Literal["survives", "hidden", "lost"]

PURITY_WITHIN = 0.02
"""How far apart two purities may be to count as the same."""
ALIKE = 0.8
"""How large the smaller of two sizes is, at least, of the larger one to count as similar; and how
much of the records that satisfy either of two rules satisfies both."""


@dataclass(frozen=True)
class Survival(PlainFields):
    """What a release keeps of one bucket of the original.

    Its rule, asked of the published cells, holds `sure` records and `straddling` ones more that
    perhaps satisfy it; `purity` is that of the sure ones. `match` is the released bucket of the
    same class whose rule is most alike, with `overlap`: of the original records that satisfy either
    rule, the share that satisfies both.
    """

    bucket: Bucket
    sure: int
    straddling: int
    expected: float
    """How many are expected inside, each value behind a cell as likely as the others."""
    purity: float | None
    match: Bucket | None
    overlap: float
    verdict: Fate


def survival(
    raw: Sequence[Bucket], released: Sequence[Bucket], original: Records, release: Records
) -> tuple[Survival, ...]:
    """For each raw bucket what the release keeps of it.

    Notes
    -----
    It `survives` when a released bucket of the same class has a like rule (overlap at least 0.8)
    and its sure records are similarly many (within a factor of 0.8) and as pure (within 2 points).
    It is `hidden` when no released bucket says so, but the raw rule itself holds that many sure
    records of that purity: who knows the rule can still check it. Otherwise it is `lost`. Only sure
    records count, for what straddles a bound tells nothing about its side. O(records) for each pair
    of buckets of one class.
    """
    return tuple(_kept(bucket, released, original, release) for bucket in raw)


def _kept(
    bucket: Bucket, released: Sequence[Bucket], original: Records, release: Records
) -> Survival:
    chance = release.chance(bucket.rule)
    inside = surely(chance)
    sure = int(inside.sum())
    purity = _purity(release, np.flatnonzero(inside), bucket.leading)
    held = surely(original.chance(bucket.rule))
    alike = [
        (_overlap(held, surely(original.chance(each.rule))), -at, each)
        for at, each in enumerate(released)
        if each.leading == bucket.leading
    ]
    verdict: Fate = "lost"
    if _same(bucket, sure, purity):
        verdict = "hidden"
    able = [
        found
        for found in alike
        if found[0] >= ALIKE and _same(bucket, found[2].sure, found[2].sure_purity)
    ]
    if able:
        verdict = "survives"
    overlap, _, match = max(able or alike, key=lambda found: found[:2], default=(0.0, 0, None))
    return Survival(
        bucket=bucket,
        sure=sure,
        straddling=int(((chance > 0) & ~inside).sum()),
        expected=float(chance.sum()),
        purity=purity,
        match=match if overlap > 0 else None,
        overlap=overlap,
        verdict=verdict,
    )


def _same(bucket: Bucket, records: int, purity: float | None) -> bool:
    """Whether so many records of that purity are the bucket again."""
    if purity is None:
        return False
    similar = min(records, bucket.sure) >= ALIKE * max(records, bucket.sure)
    # The purities are quotients: 2 points are 2 points in spite of rounding.
    reference = bucket.purity if bucket.sure_purity is None else bucket.sure_purity
    return similar and abs(purity - reference) <= PURITY_WITHIN + 1e-9


def _overlap(one: Any, other: Any) -> float:
    either = int((one | other).sum())
    return int((one & other).sum()) / either if either else 0.0


def _purity(records: Records, rows: Any, leading: str) -> float | None:
    if not len(rows):
        return None
    code = records.names.index(leading) if leading in records.names else -2
    return float((records.classes[rows] == code).mean())
