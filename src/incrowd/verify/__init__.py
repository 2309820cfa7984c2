"""The independent judge: counts the published files, in SQL and in loops of its own."""

from incrowd.verify._judge import verify
from incrowd.verify.verdict import Finding, Verdict

__all__ = ["Finding", "Verdict", "verify"]
