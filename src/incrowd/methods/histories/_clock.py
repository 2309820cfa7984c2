"""How long a search may take, and how far it is."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from incrowd._runtime.progress import Progress, silent

_STAGE = "moving groups of events"


@dataclass
class Clock:
    """The seconds that are left; without a limit there always are some.

    Told by `goes_on` is how many steps were made, of which nobody knows how many there will be.
    """

    seconds: float | None = None
    progress: Progress = silent
    begun: float = field(default_factory=time.monotonic)
    steps: int = 0

    def goes_on(self) -> bool:
        """Whether there is time for another step."""
        self.steps += 1
        if self.steps % 20 == 0:
            self.progress(_STAGE, self.steps, self.steps + 1)
        return self.seconds is None or time.monotonic() < self.begun + self.seconds

    def done(self) -> None:
        """Tell that all is done."""
        self.progress(_STAGE, self.steps, self.steps)
