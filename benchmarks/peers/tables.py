"""The results as Markdown tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the first column is text, the others are numbers or short words."""
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def seconds(number: float | None) -> str:
    """Seconds with two digits below ten, none above a hundred."""
    if number is None:
        return ""
    return f"{number:.2f}" if number < 10 else f"{number:.1f}" if number < 100 else f"{number:.0f}"


def load(result: Mapping[str, Any]) -> str:
    """How busy the machine was when the process started, empty where none did."""
    return f"{result['load']:.1f}" if result.get("load") else ""


def ending(result: Mapping[str, Any]) -> str:
    """In words, why a run has no figures."""
    ended = result["ended"]
    if ended == "time":
        return f"did not finish: over {result['limit']:.0f} s"
    if ended == "memory":
        return f"did not finish: over {result['memory'] / 1e9:.0f} GB"
    if ended == "skipped":
        return f"not tried: {result['error']}"
    said = " ".join(result["error"].split()).replace("|", "/")
    return f"failed: {said}"


def anonymizing(results: Iterable[Mapping[str, Any]]) -> str:
    """One line per tool and job: what it took, and what was found of its published table."""
    header = [
        "tool", "manner", "asked", "seconds", "whole process", "peak MB", "NCP", "groups",
        "records", "found", "load",
    ]  # fmt: skip
    rows = []
    for result in results:
        asked = f"k={result['k']}" + ("" if result["l"] is None else f", l={result['l']}")
        first = [result["tool"], result["manner"], asked]
        if result["ended"] != "well":
            peak = f"{result['peak'] / 1e6:,.0f}" if result["peak"] else ""
            rows.append([*first, ending(result), "", peak, "", "", "", "", load(result)])
            continue
        found = f"k={result['found_k']}"
        if result["found_l"] is not None:
            found += f", l={result['found_l']}"
        if result["broken"]:
            found = f"**{result['broken']}**"
        rows.append(
            [
                *first,
                seconds(result["seconds"]),
                seconds(result["whole"]),
                f"{result['peak'] / 1e6:,.0f}",
                f"{result['ncp']:.4f}",
                f"{result['groups']:,}",
                f"{result['published']:,}",
                found,
                load(result),
            ]
        )
    return markdown(header, rows)


def checking(results: Iterable[Mapping[str, Any]]) -> str:
    """One line per checker: what it took, and the k and l it measures."""
    rows = []
    for result in results:
        if result["ended"] != "well":
            rows.append([result["tool"], ending(result), "", "", "", load(result)])
            continue
        rows.append(
            [
                result["tool"],
                seconds(result["seconds"]),
                seconds(result["whole"]),
                f"{result['peak'] / 1e6:,.0f}",
                f"k={result['found_k']}, l={result['found_l']}",
                load(result),
            ]
        )
    return markdown(["checker", "seconds", "whole process", "peak MB", "found", "load"], rows)


def page(results: Sequence[Mapping[str, Any]]) -> str:
    """All tables, one pair for every number of rows, smallest first."""
    parts = []
    for table in dict.fromkeys(result["table"] for result in results):
        here = [result for result in results if result["table"] == table]
        parts.append(f"### {here[0]['title']}\n")
        parts.append(anonymizing(r for r in here if r["job"] != "check") + "\n")
        checks = [result for result in here if result["job"] == "check"]
        if checks:
            parts.append("Checking incrowd's release of it for k=5 and l=2:\n")
            parts.append(checking(checks) + "\n")
    return "\n".join(parts)
