"""Numbers of records that hospitals agreed on: nobody brings more, or others, unseen.

Counted are the records as they enter a run: those that the policy drops for a missing
quasi-identifier (`missing: drop`) are not among them.

A hospital that runs other code than this can still tell a sum that fits and count other records:
what then protects the others is the level of the run, not this check.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from incrowd.errors import FederationError, InputError, ParameterError
from incrowd.federation.membership.kits import Kit
from incrowd.federation.transport.messages import STOPPED


def refuse_other_number(kit: Kit, records: int) -> None:
    """Refuse to take part with another number of own records than was agreed.

    Raises
    ------
    InputError
        With both numbers, which this hospital knows, and what to do.
    """
    agreed = kit.consortium.parties[kit.place].records
    if agreed is None or agreed == records:
        return
    raise InputError(
        f"The hospitals agreed that {kit.name} brings {agreed:,} records, and here are {records:,}"
        f"{_dropped(kit)}. Take the file that the number was counted in; or agree anew, with "
        f"`--records {kit.name}={records}` of `incrowd federation init` (`--records {records}` of "
        "`enrol`), and let all see the new number. Nothing was sent."
    )


def require_agreed(agreed: int | None, opened: int) -> None:
    """Stop a run whose records are not as many as the hospitals agreed on together.

    Raises
    ------
    FederationError
        It names nobody: the sum does not show who brought others.
    """
    if agreed is not None and agreed != opened:
        raise FederationError(
            f"{STOPPED}the hospitals agreed on {agreed:,} records in all, and the sum that was "
            f"opened is {opened:,}. One of them brought others; the sum does not show which. Let "
            "each count its records again."
        )


def read_records(stated: Sequence[str]) -> Mapping[str, int]:
    """The numbers in texts such as `North=320`, by name.

    Example
    -------
    >>> read_records(["North=320", "St. Anna=60,000"])
    {'North': 320, 'St. Anna': 60000}
    """
    found: dict[str, int] = {}
    for each in stated:
        name, _, digits = (part.strip() for part in each.rpartition("="))
        number = digits.replace(",", "").replace("_", "")
        if not name or not (number.isascii() and number.isdigit()) or int(number) < 1:
            raise ParameterError(
                f"'{each[:60]}' does not say how many records a hospital brings; write NAME=NUMBER "
                "as in North=320."
            )
        if name in found:
            raise ParameterError(f"The records of '{name}' are stated twice.")
        found[name] = int(number)
    return found


def _dropped(kit: Kit) -> str:
    drops = kit.policy.missing == "drop"
    return ", without those that `missing: drop` drops" if drops else ""
