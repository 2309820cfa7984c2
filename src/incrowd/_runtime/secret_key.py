"""Secret keys: what is the same in every release that is made with one key, and looks random.

Invariant: all of it is HMAC-SHA256 under 32 random bytes, each use with a domain of its own, so
that nothing published of one use tells anything of another, or of the key. A key is never printed,
pickled or written; of it a manifest has the fingerprint alone.
"""

from __future__ import annotations

import hmac
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError

KEY_BYTES = 32
NAME_BYTES = 16
_BLOCK = 64
"""The bytes that HMAC-SHA256 fills a key up to."""
_MAKE = "Make one with: incrowd key new FILE"


@dataclass(frozen=True, repr=False, eq=False)
class SecretKey:
    """A secret key, and where it lies."""

    secret: bytes = field(repr=False)
    path: Path | None = None

    def __repr__(self) -> str:
        """The name alone."""
        return "<SecretKey>"

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        raise TypeError("A secret key is neither pickled nor copied. Give the path of its file.")

    @classmethod
    def read(cls, path: str | Path) -> SecretKey:
        """The key in a file.

        Raises
        ------
        InputError
            When there is none, when it is no key, or when others may read it.
        """
        path = Path(path)
        try:
            with path.open("rb") as stream:
                found = os.fstat(stream.fileno())
                secret = stream.read(KEY_BYTES + 1) if stat.S_ISREG(found.st_mode) else b""
        except FileNotFoundError:
            raise InputError(f"There is no key file '{path}'. {_MAKE}") from None
        except OSError as error:
            raise InputError(
                f"The key file '{path}' cannot be read: {type(error).__name__}. {_MAKE}"
            ) from None
        if len(secret) != KEY_BYTES:
            raise InputError(f"'{path}' is not a key, which has {KEY_BYTES} bytes. {_MAKE}")
        if os.name == "posix" and found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InputError(
                f"Others than its owner may read the key file '{path}'. Say: chmod 600 '{path}'; "
                "and where they may have read it, make a new one."
            )
        return cls(secret, path.resolve())

    @property
    def fingerprint(self) -> str:
        """What tells keys apart and gives none away, as 16 hexadecimal digits."""
        return self._of(b"fingerprint", b"")[:8].hex()

    def names(self, texts: Iterable[str]) -> NDArray[np.uint8]:
        """For each text the 16 bytes that stand for it, a row each."""
        made = [self._of(b"patient", text.encode())[:NAME_BYTES] for text in texts]
        return np.frombuffer(b"".join(made), dtype=np.uint8).reshape(-1, NAME_BYTES)

    def name_pads(self) -> tuple[bytes, bytes]:
        """What SHA-256 takes before a text, and before the digest of that, to give its name.

        With these an engine makes `names` of its own cells; they are as secret as the key.
        """
        whole = self.secret.ljust(_BLOCK, b"\x00")
        inner, outer = (bytes(byte ^ pad for byte in whole) for pad in (0x36, 0x5C))
        return inner + _domain(b"patient"), outer

    def below(self, bound: int, names: NDArray[np.uint8], step: int = 1) -> NDArray[np.int64]:
        """For each name a number from 0 to below `bound`, all of which are equally likely.

        They hang on the key, the name, the bound and the `step` that a number counts, and on
        nothing else: were a number of days that of weeks as well, two releases would tell it. A
        draw of the last, incomplete round of `bound` numbers is drawn again.
        """
        whole = 2**64 // bound * bound
        found = np.empty(len(names), dtype=np.int64)
        for row, name in enumerate(names):
            drawn, again = whole, 0
            while drawn >= whole:
                numbers = b"".join(each.to_bytes(8, "big") for each in (bound, again, step))
                asked = numbers + name.tobytes()
                drawn, again = int.from_bytes(self._of(b"shift", asked)[:8], "big"), again + 1
            found[row] = drawn % bound
        return found

    def _of(self, domain: bytes, message: bytes) -> bytes:
        return hmac.digest(self.secret, _domain(domain) + message, "sha256")


def _domain(name: bytes) -> bytes:
    return b"incrowd/1/" + name + b"\x00"
