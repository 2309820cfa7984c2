"""The independent judge: keeps to the published files and counts them in SQL."""

from incrowd.verify._judge import verify
from incrowd.verify.verdict import Finding, Verdict

__all__ = ["Finding", "Verdict", "verify"]
