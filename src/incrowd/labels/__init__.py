"""What published labels stand for: one reader for all who read releases."""

from incrowd.labels.order import missing_first, ranked

__all__ = ["missing_first", "ranked"]
