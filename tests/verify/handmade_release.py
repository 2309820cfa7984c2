"""Release folders written by hand: files, digests and signature, with none of incrowd's code."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

SAID = "promises say something"
"""Counting is tested with promises that bound nothing, too."""
K2 = {"model": "k-anonymity", "parameters": {"k": 2}}


def csv_cell(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if set(cell) & set(',"\r\n') else cell


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    lines = [",".join(map(csv_cell, row)) for row in (columns, *rows)]
    return ("\n".join(lines) + "\n").encode()


def in_order(rows: Iterable[Sequence[str]]) -> list[Sequence[str]]:
    return sorted(rows, key=lambda row: [cell.encode() for cell in row])


def canonical(manifest: dict[str, Any]) -> bytes:
    kept = {key: value for key, value in manifest.items() if key not in ("digest", "signature")}
    return json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def write_manifest(
    folder: Path, manifest: dict[str, Any], signer: Ed25519PrivateKey | None = None
) -> None:
    """Write a manifest with its right digest and, given a key, signature."""
    manifest.pop("digest", None)
    signature = manifest.pop("signature", None)
    manifest["digest"] = hashlib.sha256(canonical(manifest)).hexdigest()
    if signature is not None:
        manifest["signature"] = signature
    if signer is not None:
        manifest["signature"] = {
            "algorithm": "Ed25519",
            "key": base64.b64encode(signer.public_key().public_bytes_raw()).decode(),
            "value": base64.b64encode(signer.sign(canonical(manifest))).decode(),
        }
    write_text(folder, manifest)


def write_text(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a manifest as it is, in the form that manifests have."""
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")


def read_manifest(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "manifest.json").read_text(encoding="utf-8")))


def described(path: Path) -> dict[str, Any]:
    data = path.read_bytes()
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def make_release(
    folder: Path,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    quasi: Sequence[str],
    promises: Sequence[dict[str, Any]] = (K2,),
    sensitive: Sequence[str] = (),
    data: bytes | None = None,
    name: str = "data.csv",
    signer: Ed25519PrivateKey | None = None,
    change: Callable[[dict[str, Any]], object] = lambda _manifest: None,
) -> Path:
    """Write a release whose manifest is right, but for what `change` does to it before signing."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = in_order(rows)
    (folder / name).write_bytes(csv_text(columns, rows) if data is None else data)
    roles = dict.fromkeys(quasi, "quasi") | dict.fromkeys(sensitive, "sensitive")
    manifest: dict[str, Any] = {
        "format": "incrowd-release/1",
        "incrowd": "0.1.0",
        "publish": "generalized",
        "records": {
            "source": len(rows),
            "published": len(rows),
            "suppressed": 0,
            "missing_dropped": 0,
        },
        "suppression_limit": 0.0,
        "attributes": [
            {"name": "patient id", "role": "identifier", "published": False},
            *(
                {"name": column, "role": roles.get(column, "keep"), "published": True}
                for column in columns
            ),
        ],
        "promises": copy.deepcopy([*promises]),
        "method": {"name": "mondrian", "options": {}},
        "files": {name: {**described(folder / name), "rows": len(rows), "columns": [*columns]}},
    }
    change(manifest)
    write_manifest(folder, manifest, signer)
    return folder


def public_pem(signer: Ed25519PrivateKey) -> bytes:
    return signer.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
