"""Secret keys: what follows from one, and that it stays where it is."""

from __future__ import annotations

import copy
import hashlib
import hmac
import os
import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from incrowd._runtime.secret_key import SecretKey
from incrowd.errors import InputError, OutputError
from incrowd.publish import new_key

SECRET = bytes(range(32))
KEY = SecretKey(SECRET)


def of(domain: str, message: bytes, secret: bytes = SECRET) -> bytes:
    inner = f"incrowd/1/{domain}\x00".encode() + message
    return hmac.new(secret, inner, hashlib.sha256).digest()


def test_a_name_is_half_a_hash_under_the_key_in_a_domain_of_its_own() -> None:
    names = KEY.names(["p1", "ä", "p1"])
    expected = [of("patient", text.encode())[:16] for text in ("p1", "ä", "p1")]
    assert [name.tobytes() for name in names] == expected
    assert KEY.fingerprint == of("fingerprint", b"")[:8].hex()
    other = SecretKey(SECRET[::-1])
    assert not set(map(bytes, other.names(["p1", "ä"]))) & set(map(bytes, names))
    assert other.fingerprint != KEY.fingerprint


def test_no_name_has_no_row() -> None:
    assert KEY.names([]).shape == (0, 16)


def test_a_draw_of_the_last_round_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2^64 keys, the last 2^64 mod 5 = 1 would make 0 likelier than the others."""
    drawn = {0: 2**64 - 1, 1: 2**64 - 2}

    def told(_key: SecretKey, domain: bytes, message: bytes) -> bytes:
        assert domain == b"shift"
        return drawn[int.from_bytes(message[8:16], "big")].to_bytes(8, "big") + bytes(24)

    monkeypatch.setattr(SecretKey, "_of", told)
    assert KEY.below(5, np.zeros((1, 16), np.uint8)).tolist() == [(2**64 - 2) % 5]


def test_numbers_hang_on_the_name_and_the_bound_alone_and_are_spread() -> None:
    names = KEY.names(map(str, range(2000)))
    whole = KEY.below(7, names)
    assert KEY.below(7, names[::-1]).tolist() == whole[::-1].tolist()
    counts = Counter(whole.tolist())
    assert set(counts) == set(range(7))
    assert all(200 < many < 380 for many in counts.values())  # 286 each, six deviations


def test_a_key_is_never_printed_pickled_or_copied() -> None:
    assert repr(KEY) == "<SecretKey>"
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="neither pickled nor copied"):
            leave(KEY)


def test_a_new_key_is_random_and_for_its_owner_alone(tmp_path: Path) -> None:
    first, second = new_key(tmp_path / "a.key"), new_key(tmp_path / "b.key")
    assert first.secret != second.secret
    assert (tmp_path / "a.key").read_bytes() == first.secret
    assert len(first.secret) == 32
    assert (tmp_path / "a.key").stat().st_mode & 0o777 == 0o600
    assert SecretKey.read(tmp_path / "a.key").secret == first.secret


def test_a_new_key_replaces_nothing(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("precious")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("there", "link"):
        with pytest.raises(OutputError, match="exists"):
            new_key(tmp_path / name)
    assert (tmp_path / "there").read_text() == "precious"
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(OutputError, match="cannot be made"):
        new_key(tmp_path / "no folder" / "a.key")


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_what_is_no_key_or_open_to_others_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.key"
    with pytest.raises(InputError, match="There is no key file"):
        SecretKey.read(path)
    path.write_bytes(bytes(31))
    path.chmod(0o600)
    with pytest.raises(InputError, match="has 32 bytes"):
        SecretKey.read(path)
    path.write_bytes(bytes(33))
    with pytest.raises(InputError, match="has 32 bytes"):
        SecretKey.read(path)
    path.write_bytes(bytes(32))
    path.chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        SecretKey.read(path)
    with pytest.raises(InputError, match="cannot be read"):
        SecretKey.read(tmp_path)
