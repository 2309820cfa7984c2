"""beta-likeness: no sensitive value is much more frequent in a group than in all records."""

from __future__ import annotations

from incrowd.verify.counting.groups import PublishedGroups
from incrowd.verify.files.layout import Promise
from incrowd.verify.models._declaration import Judge, always
from incrowd.verify.models.base import SLACK, Judgement, column, judgement, kind_of, number
from incrowd.verify.verdict import shown, significant

_KINDS = ("basic", "enhanced")


def judge(promise: Promise, groups: PublishedGroups) -> Judgement:
    """Judge beta-likeness: measures the largest gain of a value in a group as `beta`.

    A value of share p in all records that has share q > p in a group gains (q - p) / p. The basic
    kind allows gains up to beta, the enhanced kind up to the smaller of beta and -ln p. There
    `beta` is None where a gain is above -ln p, since then no beta is enough.

    Notes
    -----
    Values that become less frequent, or vanish, gain nothing. Cost: one pass over the values that
    each group has.

    References
    ----------
    Cao and Karras (2012), Publishing microdata with a robust privacy guarantee.
    """
    beta = number(promise.parameters, "beta", 0)
    sensitive = column(promise.parameters)
    kind = kind_of(promise.parameters, _KINDS)
    made = groups.histogram(sensitive)
    # Whole numbers up to the one division: equal shares gain exactly 0. A group without values,
    # which only tables that do not fit together have, gains nothing either.
    largest, beyond, failing, failing_enhanced = groups.row(
        "SELECT max(gain), count_if(excess > $slack), count_if(gain > $beta),"
        " count_if(gain > $beta OR excess > $slack) FROM ("
        "SELECT coalesce(max(gain), 0) AS gain, coalesce(max(gain - log_share), 0) AS excess"
        " FROM groups LEFT JOIN ("
        "SELECT g, (h.n::HUGEINT * $total - t.n::HUGEINT * size)::DOUBLE"
        " / (t.n::HUGEINT * size)::DOUBLE AS gain, ln($total::DOUBLE / t.n) AS log_share"
        f" FROM {made.groups} AS h JOIN {made.totals} AS t USING (value)"
        " WHERE h.n > 0 AND t.n > 0 AND h.n::HUGEINT * $total > t.n::HUGEINT * size)"
        " USING (g) GROUP BY g)",
        {"total": groups.total, "beta": beta + SLACK, "slack": SLACK},
    )
    enhanced = kind == "enhanced"
    measured = None if enhanced and beyond else significant(largest)
    sentence = (
        f"the largest gain of a value of {shown(sensitive)} in a group is {largest:.4g} of its"
        f" share in all {groups.one}s, promised at most {beta:g}"
        f"{' and -ln of that share' if enhanced else ''}"
    )
    failing = failing_enhanced if enhanced else failing
    return judgement(failing, groups, sentence, {"beta": measured})


JUDGE = Judge("beta-likeness", ("beta", "kind", "sensitive"), judge, over_events=always)
