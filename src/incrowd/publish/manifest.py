"""The manifest: what a release promises, what was measured, and the digest of every file."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from incrowd.errors import InputError
from incrowd.methods.geometry import shown_labels
from incrowd.policy.linked import table_of
from incrowd.policy.times import time_entry
from incrowd.policy.units import ROW
from incrowd.publish import formulas
from incrowd.publish._histories import rows_per_patient
from incrowd.publish._listed_domain import exact_domain, listed
from incrowd.publish._shown_domain import ShownDomain
from incrowd.publish.shown_events import rounded
from incrowd.publish.unprotected import alone_in, untouched
from incrowd.table.profiles import Histories, of_table

if TYPE_CHECKING:
    from incrowd._runtime.arrays import IntArray
    from incrowd.engines.preparation import Prepared
    from incrowd.hierarchies import Hierarchy
    from incrowd.methods.base import CellLabels, Outcome
    from incrowd.policy import HierarchyPolicy, Policy
    from incrowd.publish.rows import ShownColumn, ShownRows
    from incrowd.table import Column

FORMAT = "incrowd-release/1"


def draft(
    policy: Policy,
    prepared: Prepared,
    outcome: Outcome,
    tables: Mapping[str, ShownRows],
    version: str,
) -> dict[str, Any]:
    """The manifest of a release before its files are written and judged."""
    columns = _shown(prepared, tables)
    published = {name: {text or "" for text in each.texts} for name, each in columns.items()}
    whole = next(iter(tables.values()))
    promises = [model.promise_about(published) for model in prepared.models]
    attributes = _attributes(policy, prepared, outcome, _least(promises))
    return {
        "format": FORMAT,
        "incrowd": version,
        "publish": policy.publish,
        "unit": policy.unit or ROW,
        **_counted(prepared, outcome),
        **({} if policy.most_events is None else {"most_events": policy.most_events}),
        **_linked(prepared, promises),
        **_left_out(outcome, promises),
        **_pseudonyms(prepared),
        "suppression_limit": policy.suppression,
        "attributes": attributes,
        "promises": promises,
        "method": {**policy.method.as_dict(), **outcome.how},
        "goal": policy.goal,
        "utility": _utility(attributes),
        **formulas.found(columns, escape=policy.spreadsheet == "escape"),
        **_unprotected(prepared, whole),
    }


def _shown(prepared: Prepared, tables: Mapping[str, ShownRows]) -> dict[str, ShownColumn]:
    """The published columns by what the manifest calls them: those of tables of events as such."""
    linked = (
        {} if prepared.histories is None or prepared.histories.flat else prepared.histories.tables
    )
    return {
        of_table(name, column.name) if name in linked else column.name: column
        for name, rows in tables.items()
        for column in rows.columns
    }


def _linked(prepared: Prepared, promises: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is said of linked tables: the rows of each, and in steps how many patients have."""
    histories = prepared.histories
    if not isinstance(histories, Histories) or histories.flat:
        return {}
    told = {
        name: {
            "rows": events.rows,
            "rows_per_patient": rows_per_patient(events, prepared.table.records, _least(promises)),
        }
        for name, events in histories.tables.items()
    }
    unmatched = {"unmatched": dict(histories.unmatched)} if histories.unmatched else {}
    return {"tables": told, **unmatched}


def _least(promises: Sequence[Mapping[str, Any]]) -> int:
    """The largest size of groups that a promise is about: so many tell of nobody."""
    sizes = (promise["parameters"].get(name) for promise in promises for name in ("k", "K"))
    return max([2, *(each for each in sizes if isinstance(each, int))])


def _left_out(outcome: Outcome, promises: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """About how many rows of each table of events are left out, where attackers may know some."""
    told = {name: rounded(each, _least(promises)) for name, each in outcome.events.items()}
    return {"events_left_out": told} if told else {}


def _counted(prepared: Prepared, outcome: Outcome) -> dict[str, Any]:
    """How many records there were and are; of patients with several rows, how many patients.

    Of suppressed patients nothing is told but how many they are, so not how many rows they had.
    """
    dropped = prepared.table.missing_dropped
    patients = int(outcome.group_sizes.sum())
    told = {
        "source": patients + outcome.suppressed + dropped,
        "published": patients,
        "suppressed": outcome.suppressed,
        "missing_dropped": dropped,
    }
    return {"records" if prepared.histories is None else "patients": told}


def _pseudonyms(prepared: Prepared) -> dict[str, Any]:
    """What tells the key that pseudonyms follow from, where they do."""
    histories = prepared.histories
    stable = histories.pseudonyms if isinstance(histories, Histories) else None
    return {} if stable is None else {"pseudonyms": {"fingerprint": stable.fingerprint}}


def _unprotected(prepared: Prepared, rows: ShownRows) -> dict[str, Any]:
    """How many published records the untouched columns single out, where there are any."""
    columns = untouched(prepared)
    if not columns:
        return {}
    unique = rows.alone(columns) if prepared.histories is None else alone_in(prepared, columns)
    return {"unprotected": {"columns": columns, "unique": unique}}


def _attributes(
    policy: Policy, prepared: Prepared, outcome: Outcome, least: int
) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = [
        {"name": name, "role": why, **_whose(policy, name), "published": False}
        for name, why in prepared.unpublished.items()
    ]
    for column, of_events in _columns(prepared):
        entry: dict[str, Any] = {
            "name": column.name,
            "role": column.role,
            **({"level": "event"} if of_events else {}),
            **_whose(policy, column.name),
            "published": True,
            "type": column.kind,
        }
        asked = policy.attributes.get(column.name)
        if asked is not None and asked.format is not None:
            entry["format"] = asked.format
        if asked is not None and asked.time is not None:
            entry["time"] = time_entry(asked.time, known=column.role == "quasi")
        if column.role == "quasi":
            hierarchy = prepared.hierarchies[column.name]
            wanted = None if asked is None else asked.hierarchy
            if policy.publish != "generalized":
                entry |= _exact(column, hierarchy, wanted, outcome)
            else:
                seen = _seen(outcome, column.name, least)
                entry |= _generalized(policy, column, hierarchy, wanted, seen)
        entries.append(entry)
    return entries


@dataclass(frozen=True)
class _SeenCells:
    """The labels of a quasi-identifier, how many records show each, and how many show none."""

    cells: CellLabels
    sizes: IntArray
    lost: int


def _seen(outcome: Outcome, name: str, least: int) -> _SeenCells:
    """The cells of a column in the groups of patients; of events in their rows."""
    of_events = [rounded(each, least) for each in outcome.events.values() if name in each.labels]
    return _SeenCells(*outcome.shown(name), of_events[0] if of_events else outcome.suppressed)


def _whose(policy: Policy, name: str) -> dict[str, str]:
    """The table that an attribute stands in, where there are several."""
    return {} if policy.patients is None else {"table": table_of(policy, name)}


def _columns(prepared: Prepared) -> Iterator[tuple[Column, bool]]:
    """The published columns in the order of the source, and whether they are of events."""
    table, histories = prepared.table, prepared.histories
    if histories is None:
        yield from ((column, False) for column in table.columns)
        return
    for name in histories.names:
        yield (histories[name], True) if name in histories else (table[name], False)


def _exact(
    column: Column, hierarchy: Hierarchy, wanted: HierarchyPolicy | None, outcome: Outcome
) -> dict[str, Any]:
    """A quasi-identifier whose cells are its values, so that all of them are seen."""
    lost = outcome.suppressed / (int(outcome.group_sizes.sum()) + outcome.suppressed)
    return {
        **exact_domain(column, listed(hierarchy, wanted, column)),
        "labels": "exact",
        "ncp": _significant(lost),
    }


def _generalized(
    policy: Policy,
    column: Column,
    hierarchy: Hierarchy,
    wanted: HierarchyPolicy | None,
    seen: _SeenCells,
) -> dict[str, Any]:
    """How the cells of a quasi-identifier are labelled, and what that loses.

    Invariant: it follows from the published cells and the policy, see `ShownDomain`.
    """
    labels = shown_labels(column, hierarchy, policy.method.label_mode)
    cells, sizes = seen.cells, seen.sizes
    counts = np.bincount(cells.text_of_group, sizes, minlength=len(cells.texts)).astype(np.int64)
    records = {text: int(n) for text, n in zip(cells.texts, counts, strict=True) if n}
    masked = wanted.mask if wanted is not None else None
    shown = ShownDomain(
        column.kind,
        labels,
        records,
        hierarchy.kind,
        listed(hierarchy, wanted, column, cells),
        "right" if masked is None else masked.direction,
    )
    made = wanted is not None and wanted.auto
    found: dict[str, Any] = {
        "domain": shown.size,
        "decimals": shown.decimals,
        "missing": shown.missing,
        "labels": labels,
        "hierarchy": "auto" if made else None if hierarchy.kind == "flat" else hierarchy.kind,
    }
    if not made:
        found["levels"] = hierarchy.height
    if labels == "hierarchy":
        found["weights"] = shown.weights
    entry = {"name": column.name, "role": "quasi", "type": column.kind, **found}
    found["ncp"] = _ncp(entry, records, seen.lost)
    return found


def _ncp(entry: Mapping[str, Any], records: Mapping[str | None, int], suppressed: int) -> float:
    """The loss of an attribute, as anyone finds it who reads its cells by its entry."""
    from incrowd.labels import cell_losses

    losses = cell_losses(list(records), entry)
    many = np.array(list(records.values()), dtype=np.float64)
    lost = float((losses * many).sum()) + suppressed
    return _significant(lost / (int(many.sum()) + suppressed))


def _utility(attributes: list[dict[str, Any]]) -> dict[str, Any]:
    per_attribute = [entry["ncp"] for entry in attributes if "ncp" in entry]
    ncp = _significant(sum(per_attribute) / len(per_attribute))
    return {"ncp": ncp, "information_kept": _significant(1 - ncp)}


def _significant(number: float) -> float:
    return float(f"{number:.12g}")


def canonical(manifest: dict[str, Any]) -> bytes:
    """The bytes of a manifest that its digest and its signature are about."""
    bare = {key: value for key, value in manifest.items() if key not in ("digest", "signature")}
    return json.dumps(bare, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sealed(manifest: dict[str, Any], key: Path | None = None) -> dict[str, Any]:
    """The manifest with the digest of itself and, given a private key, a signature."""
    content = canonical(manifest)
    whole = {**manifest, "digest": hashlib.sha256(content).hexdigest()}
    if key is not None:
        whole["signature"] = _signature(content, key)
    return whole


def write(manifest: dict[str, Any], folder: Path) -> None:
    """Write manifest.json into a folder."""
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")


def describe_file(path: Path, rows: int, columns: list[str]) -> dict[str, Any]:
    """What a manifest says of one file."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"sha256": digest, "bytes": path.stat().st_size, "rows": rows, "columns": columns}


def load_signing_key(path: Path) -> Any:
    """The Ed25519 private key in a PEM file."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    advice = "Make one with: openssl genpkey -algorithm ed25519 -out release-key.pem"
    try:
        key = load_pem_private_key(path.read_bytes(), password=None)
    except FileNotFoundError:
        raise InputError(f"There is no key file '{path}'. {advice}") from None
    except (OSError, ValueError, TypeError):
        raise InputError(
            f"'{path}' is not an unencrypted private key in PEM form. {advice}"
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"The key in '{path}' is not an Ed25519 key. {advice}")
    return key


def _signature(content: bytes, path: Path) -> dict[str, str]:
    key = load_signing_key(path)
    return {
        "algorithm": "Ed25519",
        "key": base64.b64encode(key.public_key().public_bytes_raw()).decode(),
        "value": base64.b64encode(key.sign(content)).decode(),
    }
