"""Releases whose tables are folders of parts, made from releases of whole files."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl


def entry(path: Path, rows: int, columns: list[str]) -> dict[str, Any]:
    """What a manifest says of a file."""
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    return {"sha256": digest, "bytes": len(content), "rows": rows, "columns": columns}


def manifest_of(folder: Path) -> dict[str, Any]:
    """The manifest of a release."""
    return dict(json.loads((folder / "manifest.json").read_text(encoding="utf-8")))


def reseal(folder: Path, manifest: dict[str, Any]) -> None:
    """Write a manifest with the digest of its content, as a forger without a key can."""
    bare = {key: value for key, value in manifest.items() if key not in ("digest", "signature")}
    text = json.dumps(bare, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    whole = {**bare, "digest": hashlib.sha256(text.encode()).hexdigest()}
    text = json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")


def relist(folder: Path, name: str, **changed: Any) -> None:
    """Describe a file anew in the manifest, as it is now."""
    manifest = manifest_of(folder)
    before = manifest["files"].get(name, {"rows": 0, "columns": []})
    fresh = entry(folder / name, before["rows"], before["columns"])
    manifest["files"][name] = fresh | changed
    reseal(folder, manifest)


def part_name(table: str, number: int) -> str:
    """The path of a part of a table."""
    return f"{table}/part-{number:05}{Path(table).suffix}"


def write_part(path: Path, rows: Any) -> None:
    """Write a part: the lines of a text file with its header, or a frame."""
    if isinstance(rows, pl.DataFrame):
        rows.write_parquet(path)
    else:
        path.write_bytes(b"".join(rows))


def split(folder: Path, rows: int, into: Path | None = None) -> Path:
    """Split every table of a release into parts of so many rows; text files hold no line breaks."""
    if into is not None:
        shutil.copytree(folder, into)
        folder = into
    manifest = manifest_of(folder)
    files: dict[str, Any] = {}
    pieces: list[Any]
    for name, told in manifest["files"].items():
        path = folder / name
        if not name.endswith((".csv", ".parquet")):
            files[name] = told
            continue
        if name.endswith(".parquet"):
            whole = pl.read_parquet(path)
            pieces = [whole[at : at + rows] for at in range(0, max(whole.height, 1), rows)]
            held = [piece.height for piece in pieces]
        else:
            header, *lines = path.read_bytes().splitlines(keepends=True)
            cut = [lines[at : at + rows] for at in range(0, max(len(lines), 1), rows)]
            pieces, held = [[header, *each] for each in cut], [len(each) for each in cut]
        path.unlink()
        path.mkdir()
        for number, (piece, height) in enumerate(zip(pieces, held, strict=True)):
            part = part_name(name, number)
            write_part(folder / part, piece)
            files[part] = entry(folder / part, height, told["columns"])
    reseal(folder, {**manifest, "files": files})
    return folder
