"""Policies side by side: `incrowd compare`."""

from incrowd.comparison._candidates import Candidate, compare

__all__ = ["Candidate", "compare"]
