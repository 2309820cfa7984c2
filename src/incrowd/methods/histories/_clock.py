"""How long a search may take, and how far it is."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Clock:
    """The seconds that are left; without a limit there always are some."""

    seconds: float | None = None
    begun: float = field(default_factory=time.monotonic)

    def goes_on(self) -> bool:
        """Whether there is time for another step."""
        return self.seconds is None or time.monotonic() < self.begun + self.seconds
