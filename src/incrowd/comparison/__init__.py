"""Policies side by side: `incrowd compare`."""

from incrowd.comparison.comparing import Candidate, compare

__all__ = ["Candidate", "compare"]
