"""Reading manifest.json: its bytes, its digest, and whether it has the shape of format 1.

Invariant: everything but `digest` and `signature` goes into the canonical bytes, so no promise,
count or file digest can change without the digest changing. The digest alone does not stop a
forger, who can compute it anew: only a signature by a key known beforehand does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from incrowd.errors import InputError
from incrowd.verify.verdict import MANIFEST, Finding, counted

NAME = "manifest.json"
UNSIGNED_KEYS = ("digest", "signature")


@dataclass(frozen=True)
class ManifestReading:
    """A manifest as read: the JSON object, or the problem that kept it from being one."""

    raw: Mapping[str, Any] | None
    problem: str | None = None
    in_form: bool = True
    """Whether its bytes are those that its content has, written with two spaces of indent."""

    def canonical(self) -> bytes:
        """Return the bytes that the digest and the signature are over."""
        kept = {key: value for key, value in (self.raw or {}).items() if key not in UNSIGNED_KEYS}
        text = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return text.encode()

    def finding(self, problems: list[str]) -> Finding:
        """Return the judgement on the manifest itself, given the problems of its layout."""
        if self.raw is None:
            return Finding(MANIFEST, False, f"{NAME} {self.problem}")
        if problems:
            more = f" (and {counted(len(problems) - 1, 'more problem')})" if problems[1:] else ""
            return Finding(MANIFEST, False, f"{NAME}: {problems[0]}{more}")
        if not self.in_form:
            return Finding(MANIFEST, False, f"{NAME} is not written in its one form")
        if self.raw["digest"] != hashlib.sha256(self.canonical()).hexdigest():
            detail = f"{NAME} was changed after its release: its digest does not fit its content"
            return Finding(MANIFEST, False, detail)
        return Finding(MANIFEST, True, f"{NAME} has the right layout and digest")


def read_manifest(folder: Path) -> ManifestReading:
    """Return the manifest of a release folder; a folder without one is an InputError."""
    if not folder.is_dir():
        raise InputError(f"No folder {folder}. Give the folder of a release.")
    path = folder / NAME
    if not path.is_file():
        raise InputError(f"No {NAME} in {folder}. Give the folder of a release.")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}.") from None
    try:
        raw = json.loads(
            data.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_no_twins
        )
        # Text that UTF-8 cannot hold (a lone surrogate) has no canonical bytes.
        written = json.dumps(raw, indent=2, ensure_ascii=False, allow_nan=False).encode()
    except _TwinKeyError:
        return ManifestReading(None, "names one key twice")
    except (ValueError, RecursionError):
        return ManifestReading(None, "is not JSON in UTF-8")
    if not isinstance(raw, dict):
        return ManifestReading(None, "does not hold a JSON object")
    return ManifestReading(raw, in_form=written + b"\n" == data)


class _TwinKeyError(ValueError):
    """A JSON object names one key twice, so that two readers may see two manifests."""


def _no_constant(constant: str) -> NoReturn:
    raise ValueError(constant)


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _TwinKeyError
    return found
