"""What an analyst sees of a published quasi-identifier, in figures."""

from dataclasses import dataclass
from typing import Any

from incrowd._runtime.plain_fields import plain_fields


@dataclass(frozen=True)
class Seen:
    """A quasi-identifier as it is published."""

    name: str
    unchanged: float
    """The share of the records that show a value as it was, a missing cell among them."""
    hidden: float
    """The share of the records that show nothing but `*`."""
    typical: str | None
    """How wide the other labels are, by the median over records: `9 years`, `sets of 4 values`."""
    count_error: float | None
    """How far a count by this attribute may be off, see `incrowd.utility.count_error`."""
    ncp: float | None
    """The information lost, where that means something; see `meaningful`."""

    def as_dict(self) -> dict[str, Any]:
        """The figures for JSON."""
        return plain_fields(self, without=("name",))
