"""How long the judge counts what may be known of patients' events: one release, by what is known.

    python benchmarks/judge_histories.py --patients 100000 --known 2 3

A release of linked tables is written here, of random labels that look as published ones: a sex and
a decade of birth, and ten events of 300 codes, some of them rarer, each label once for a patient.
It keeps no promise that says much; counting takes as long as if it did. Told are seconds of the
clock and of the processors, for the whole judgement.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from incrowd.verify import verify

CODES, EVENTS = 300, 10


def tables(patients: int, seed: int) -> dict[str, pl.DataFrame]:
    """Random patients and their different events, sorted as released rows are."""
    draw = np.random.default_rng(seed)
    who = np.arange(1, patients + 1)
    own = pl.DataFrame(
        {
            "patient": who,
            "sex": draw.choice(["F", "M"], patients),
            "born": draw.choice([f"{decade}s" for decade in range(1930, 2010, 10)], patients),
        }
    )
    rare = (np.arange(CODES) + 20.0) ** -0.5
    codes = draw.choice(CODES, patients * EVENTS, p=rare / rare.sum())
    events = pl.DataFrame({"patient": np.repeat(who, EVENTS), "code": codes}).unique()
    told = pl.format("C{}", pl.col("code").cast(pl.String).str.zfill(3)).alias("code")
    events = events.with_columns(told)
    return {"patients": _sorted(own), "conditions": _sorted(events)}


def _sorted(frame: pl.DataFrame) -> pl.DataFrame:
    texts = frame.with_columns(pl.all().cast(pl.String))
    return texts.sort(texts.columns)


def write(folder: Path, patients: int, known: int, protected: int, seed: int) -> None:
    """Write the tables and their manifest."""
    files, attributes = {}, [_attribute("id", "identifier", "patients")]
    made = tables(patients, seed)
    for name, frame in made.items():
        path = folder / f"{name}.csv"
        frame.write_csv(path)
        files[path.name] = {
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "bytes": path.stat().st_size,
            "rows": frame.height,
            "columns": frame.columns,
        }
        attributes += [_attribute(column, "quasi", name) for column in frame.columns[1:]]
    counts = {"source": patients, "published": patients, "suppressed": 0, "missing_dropped": 0}
    rows = made["conditions"].height
    values = [f"C{number:03}" for number in range(protected)] or None
    manifest = {
        "format": "incrowd-release/1",
        "incrowd": "0.1.0",
        "publish": "generalized",
        "unit": "id",
        "patients": counts,
        "tables": {
            "conditions": {"rows": rows, "rows_per_patient": [{"from": 0, "patients": patients}]}
        },
        "suppression_limit": 0.0,
        "attributes": attributes,
        "promises": [
            {
                "model": "lkc",
                "parameters": {
                    "sensitive": "conditions.code" if values else None, "values": values,
                    "L": known, "K": 2, "C": 0.5 if values else 1.0,
                    "attributes": None, "events": known,
                },
            }
        ],
        "files": files,
    }  # fmt: skip
    text = json.dumps(manifest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    manifest["digest"] = hashlib.sha256(text.encode()).hexdigest()
    whole = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    (folder / "manifest.json").write_text(whole, encoding="utf-8")


def _attribute(name: str, role: str, table: str) -> dict[str, object]:
    events = table != "patients"
    return {
        "name": f"{table}.{name}" if events else name,
        "role": role,
        **({"level": "event"} if events else {}),
        "table": table,
        "published": role != "identifier",
    }


def main() -> None:
    """Judge releases of so many patients, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patients", type=int, default=100_000)
    parser.add_argument("--known", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--protected", type=int, default=0, help="codes, the most frequent ones")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    for known in asked.known:
        with tempfile.TemporaryDirectory() as name:
            write(Path(name), asked.patients, known, asked.protected, asked.seed)
            begun = time.perf_counter(), time.process_time()
            found = verify(name).findings[-1]
            took = [time.perf_counter() - begun[0], time.process_time() - begun[1]]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{asked.patients:,} patients, {known} known: {took[0]:.1f} s, {took[1]:.1f} s of"
            f" processors, {peak:.1f} GiB at most. {found.detail}"
        )


if __name__ == "__main__":
    main()
