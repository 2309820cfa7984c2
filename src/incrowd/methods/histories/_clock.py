"""How long a search may take, and how far it is."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from incrowd._runtime.progress import Progress, silent

_STAGE = "moving groups of events"


@dataclass
class Clock:
    """The seconds that are left; without a limit there always are some.

    They begin after the first step, which may have to wait for loops to be compiled, so that a
    search always has one. Told by `goes_on` is how many steps were made, of which nobody knows how
    many there will be.
    """

    seconds: float | None = None
    progress: Progress = silent
    begun: float | None = None
    steps: int = 0

    def goes_on(self) -> bool:
        """Whether there is time for another step."""
        self.steps += 1
        if self.steps % 20 == 0:
            self.progress(_STAGE, self.steps, self.steps + 1)
        if self.begun is None and self.steps > 1:
            self.begun = monotonic()
        if self.seconds is None or self.begun is None:
            return True
        return monotonic() < self.begun + self.seconds

    def done(self) -> None:
        """Tell that all is done."""
        self.progress(_STAGE, self.steps, self.steps)
