"""The rows that patients have in a release, in words."""

from __future__ import annotations

from incrowd._runtime.manifests import Manifest, counts_rows, known_events, linked_tables


def rows_told(manifest: Manifest) -> list[tuple[str, int]]:
    """The rows that patients have, in words and how many: of one table, or of each of theirs."""
    if not counts_rows(manifest):
        return []
    if known_events(manifest):
        return _rows_of_known(manifest)
    if "tables" not in manifest:
        many = sum(each["rows"] for each in manifest["files"].values() if "rows" in each)
        most = manifest.get("most_events")
        told = "all of which are published" if most is None else f"of each at most {most:,}"
        return [(f"Rows of the published patients, {told}", int(many))]
    found = []
    for name, each in linked_tables(manifest).items():
        found.append((f"Rows of the published patients in {name}", int(each["rows"])))
        found += [
            (f"patients with {_in_words(step)} of them", int(step["patients"]))
            for step in each["rows_per_patient"]
        ]
    left_out = manifest.get("unmatched", {}).items()
    return found + [
        (f"Rows of {name} left out, as they named no patient", int(many)) for name, many in left_out
    ]


def _rows_of_known(manifest: Manifest) -> list[tuple[str, int]]:
    """The same where events may be known: each that differs is published once, or left out."""
    left_out, found = manifest.get("events_left_out", {}), []
    for file, each in manifest["files"].items():
        table = file.partition(".")[0]
        if "rows" in each and (table in left_out or table in manifest.get("tables", {})):
            once = ", each that differs within a patient once" if table in left_out else ""
            found.append((f"Rows of {table}{once}", int(each["rows"])))
    for table, many in left_out.items():
        told = "Rows of published patients left out of"
        found.append((f"{told} {table}, as too few share what they show (about)", int(many)))
    return found + [
        (f"Rows of {name} left out, as they named no patient", int(many))
        for name, many in manifest.get("unmatched", {}).items()
    ]


def _in_words(step: Manifest) -> str:
    """The numbers of rows of a step."""
    if "to" not in step:
        return f"{step['from']:,} or more"
    if step["from"] == step["to"]:
        return "none" if step["to"] == 0 else f"{step['to']:,}"
    return f"{step['from']:,} to {step['to']:,}"
