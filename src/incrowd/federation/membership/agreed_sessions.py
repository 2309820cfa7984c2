"""What all parties of a session know before it begins."""

from __future__ import annotations

from dataclasses import dataclass

from incrowd.errors import ParameterError
from incrowd.federation.membership.identities import PublicIdentity
from incrowd.federation.transport.transcripts import DIGEST_SIZE

SESSION_SIZE = 32
TWO_PARTIES = (
    "With two parties, any sum minus one's own value is the other's: nothing is hidden between them"
)


@dataclass(frozen=True)
class AgreedSession:
    """What all parties of one session know: its number, the roster, who takes part."""

    number: bytes
    """32 random bytes, chosen by the leader."""
    roster: bytes
    """The digest of the consortium."""
    names: tuple[str, ...]
    identities: tuple[PublicIdentity, ...]
    two_parties: bool = False
    """Two parties are refused unless this is true."""

    def __post_init__(self) -> None:
        if len(self.number) != SESSION_SIZE or len(self.roster) != DIGEST_SIZE:
            raise ParameterError(
                f"A session has a number of {SESSION_SIZE} bytes and a roster's digest of "
                f"{DIGEST_SIZE}, got {len(self.number)} and {len(self.roster)}."
            )
        if len(self.names) != len(self.identities):
            raise ParameterError("Every party of a session has a name and an identity.")
        if len(self.names) < 2:
            raise ParameterError("A session has at least two parties.")
        if len(self.names) == 2 and not self.two_parties:
            raise ParameterError(f"{TWO_PARTIES}. Set two_parties=True to go on nevertheless.")

    @property
    def size(self) -> int:
        """How many parties there are."""
        return len(self.names)
