"""A hospital's line to the leader: it dials out, keeps the connection, and bounds every wait."""

from __future__ import annotations

import ssl
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from incrowd.errors import FederationError
from incrowd.federation.transport.messages import PATH, STOPPED
from incrowd.federation.transport.terms import TimeLimits
from incrowd.federation.transport.tls import refusal_in_words, shown

if TYPE_CHECKING:
    import httpx

_PAUSE = 0.2


class LineError(FederationError):
    """The leader cannot be spoken to."""


@dataclass(eq=False, repr=False)
class Line:
    """One kept connection to the leader, for messages that are already signed.

    Parameters
    ----------
    leader
        The leader's name.
    address
        Where it listens: `host:port`.
    context
        TLS with the kit's certificate, trusting the leader's pinned one.
    pinned
        The fingerprint of the leader's certificate.
    limits
        How long to wait and how much to take.
    proxy
        The address of a web proxy that lets connections through by CONNECT, if there is one.

    Notes
    -----
    A message may be sent twice when a line is cut; the leader knows it again by its signature.
    """

    leader: str
    address: str
    context: ssl.SSLContext
    pinned: str
    limits: TimeLimits
    proxy: str | None = None

    def __post_init__(self) -> None:
        self._url = f"https://{self.address}{PATH}"
        self._client = self._dialling()
        self.sent = 0
        self.received = 0

    def __enter__(self) -> Line:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._client.close()

    def exchange(self, data: bytes, patience: float | None = None) -> bytes | None:
        """The leader's reply to a message; None when it has nothing to say yet.

        Parameters
        ----------
        data
            A signed message.
        patience
            How long a leader that cannot be reached is tried again; `limits.reconnect` unless told.

        Raises
        ------
        LineError
            When the leader cannot be reached, is silent, shows another certificate or refuses the
            own one, or replies with what is no message.
        """
        import httpx

        end = time.monotonic() + (self.limits.reconnect if patience is None else patience)
        while True:
            try:
                return self._once(data)
            except (httpx.ReadTimeout, httpx.WriteTimeout):
                raise self._stopped(
                    f"has given no sign of life for {self.limits.timeout:g} s"
                ) from None
            except (httpx.TransportError, ssl.SSLError) as error:
                refusal = refusal_in_words(error)
                if refusal:
                    raise self._stopped(refusal) from None
                if time.monotonic() >= end:
                    raise self._stopped(
                        f"cannot be reached ({type(error).__name__}); it has ended, or its address "
                        "is another one"
                    ) from None
            self._client.close()  # a dial that failed may hold the only connection for good
            self._client = self._dialling()
            time.sleep(_PAUSE)

    def _dialling(self) -> httpx.Client:
        """A client of one connection, that has not dialled yet."""
        import httpx

        limits = self.limits
        return httpx.Client(
            verify=self.context,
            trust_env=False,
            proxy=self.proxy,
            timeout=httpx.Timeout(limits.timeout, connect=min(limits.reconnect, limits.timeout)),
            limits=httpx.Limits(max_connections=1, keepalive_expiry=None),
            headers={"content-type": "application/octet-stream", "accept-encoding": "identity"},
        )

    def _once(self, data: bytes) -> bytes | None:
        end = time.monotonic() + 2 * self.limits.timeout
        with self._client.stream("POST", self._url, content=data) as response:
            self._same_leader(response)
            if response.status_code == 204:
                self.sent += len(data)
                return None
            if response.status_code != 200:
                raise self._stopped(f"replied with HTTP status {response.status_code}")
            pieces: list[bytes] = []
            size = 0
            for piece in response.iter_raw():
                size += len(piece)
                if size > self.limits.size:
                    raise self._stopped(f"sent a message of more than {self.limits.size:,} bytes")
                if time.monotonic() > end:
                    raise self._stopped("sends too slowly")
                pieces.append(piece)
        self.sent += len(data)
        self.received += size
        return b"".join(pieces)

    def _same_leader(self, response: httpx.Response) -> None:
        """Refuse a leader whose certificate is not the pinned one, byte by byte."""
        stream = response.extensions["network_stream"]
        if shown(stream.get_extra_info("ssl_object")) != self.pinned:
            raise self._stopped("does not show its pinned certificate")

    def _stopped(self, cause: str) -> LineError:
        return LineError(f"{STOPPED}the leader {self.leader} {cause}.")
