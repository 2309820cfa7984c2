"""The same job on the same table by incrowd and by the tools one would take instead.

    python benchmarks/peers/run.py --work FOLDER [--rows adult 100000 1000000] [--tools NAME ...]
    python benchmarks/peers/run.py --work FOLDER --measure PUBLISHED.csv [--labels hierarchy]

One process after another, each in the environment of its tool, killed after `--seconds` and kept
below `--memory`. What is published is read back, measured and judged by incrowd, whoever published
it. Results stay in the folder: a run that was broken off goes on where it was, `--again` starts
anew. A tool that did not finish a table is not tried on a larger one. `--measure` only measures a
table that was published by hand, from Adult or from a number of rows given by `--rows`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from blown_up import QUASI, blown_up  # noqa: E402
from measuring import Domain, measure, read_domain  # noqa: E402
from processes import Ran, environment, run_job  # noqa: E402
from tables import page  # noqa: E402
from tools import PEERS, PYCANON, VERIFY, Tool, incrowd_tools  # noqa: E402

from incrowd import datasets  # noqa: E402

SENSITIVE = "hours-per-week"
NUMERIC = ["age"]
K, L = 5, 2


def hierarchies(folder: Path) -> dict[str, Path]:
    """A file for every quasi-identifier; those that the package has none for go to `*` at once."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {path.stem: path for path in datasets.export_hierarchies("adult", folder)}
    adult = datasets.load("adult")
    for name in QUASI:
        if name not in found:
            values = sorted(adult[name].drop_nulls().unique())
            found[name] = folder / f"{name}.csv"
            found[name].write_text("".join(f"{value},*\n" for value in values), encoding="utf-8")
    return {name: found[name] for name in QUASI}


def size_of(rows: str) -> int:
    """How a table's name ranks: Adult itself before what it is blown up to."""
    return 0 if rows == "adult" else int(rows)


def make_table(rows: str, folder: Path) -> tuple[Path, int, str]:
    """The table as a CSV file, its number of records and its title."""
    path = folder / f"{rows}.csv"
    if rows == "adult":
        adult = datasets.load("adult").filter(pl.col("fold") == "train").drop_nulls()
        table = adult.select([*QUASI, SENSITIVE])
        title = f"Adult, {table.height:,} records"
    else:
        table = blown_up(int(rows))
        title = f"Adult blown up to {table.height:,} records"
    table.write_csv(path)
    return path, table.height, title


class Comparison:
    """The runs of one table; every result is written to the folder as soon as it is there."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.asked = arguments
        self.work: Path = arguments.work.resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.files = hierarchies(self.work / "hierarchies")
        self.domains: list[Domain] = [
            read_domain(name, path, numeric=name in NUMERIC) for name, path in self.files.items()
        ]
        self.kept = self.work / "results.json"
        self.results: dict[str, dict[str, Any]] = {}
        if self.kept.exists() and not arguments.again:
            self.results = json.loads(self.kept.read_text(encoding="utf-8"))

    def do(self, rows: str) -> None:
        """Every tool on one table, with and without l-diversity, then the checks."""
        table, records, title = make_table(rows, self.work)
        shown = {"table": rows, "title": title}
        for l in [{"k": None, "l": L}[job] for job in self.asked.jobs]:  # noqa: E741
            for tool in [*incrowd_tools(), *PEERS]:
                if (l is None or tool.diversity) and self.wanted(tool):
                    self.one(tool, shown, table, records, l)
        release = self.work / "releases" / f"{incrowd_tools()[0].name}-{rows}-l"
        for tool, what in ((VERIFY, release), (PYCANON, release / "data.csv")):
            if what.exists() and self.wanted(tool):
                self.check(tool, shown, what)

    def wanted(self, tool: Tool) -> bool:
        """Whether the tool was asked for."""
        return not self.asked.tools or any(tool.name.startswith(n) for n in self.asked.tools)

    def one(
        self,
        tool: Tool,
        shown: dict[str, Any],
        table: Path,
        records: int,
        l: int | None,  # noqa: E741
    ) -> None:
        """One run, measured, unless it is known already or known to be too much."""
        job = "k" if l is None else "l"
        known = {**shown, "tool": tool.name, "manner": tool.manner, "job": job, "k": K, "l": l}
        name = f"{tool.name}-{shown['table']}-{job}"
        if name in self.results:
            return
        reason = self.too_much(tool, shown["table"])
        if reason:
            self.keep(name, {**known, "ended": "skipped", "error": reason, "peak": 0})
            return
        published = self.work / "releases" / name
        published.parent.mkdir(exist_ok=True)
        shutil.rmtree(published, ignore_errors=True)
        published.unlink(missing_ok=True)
        ran = self.run(tool, {"table": str(table), "l": l, "published": str(published)})
        if not tool.requirements:  # the first run of all may have compiled; the second does not
            shutil.rmtree(published, ignore_errors=True)
            ran = self.run(tool, {"table": str(table), "l": l, "published": str(published)})
        found = {**known, **self.described(ran), "records": records}
        if ran.ended == "well":
            data = published / "data.csv" if published.is_dir() else published
            frame = pl.read_csv(data, infer_schema=False)
            try:
                seen = measure(
                    frame,
                    self.domains,
                    records,
                    labels=tool.labels,
                    separator=tool.separator,
                    k=K,
                    sensitive=SENSITIVE if tool.publishes_sensitive else None,
                )
                found |= {
                    "ncp": seen.ncp,
                    "groups": seen.groups,
                    "published": seen.published,
                    "found_k": seen.k,
                    "found_l": None if l is None else seen.l,
                    "broken": ", ".join(seen.broken(K, l)),
                }
            except ValueError as error:
                found |= {"ended": "error", "error": f"its labels cannot be read: {error}"}
        self.keep(name, found)

    def by_hand(self, rows: str) -> str:
        """What is found of a published table that no runner made."""
        frame = pl.read_csv(self.asked.measure, infer_schema=False)
        records = make_table(rows, self.work)[1]
        found = measure(
            frame, self.domains, records, labels=self.asked.labels, k=K, sensitive=SENSITIVE
        )
        return json.dumps({**asdict(found), "broken": found.broken(K, None)})

    def check(self, tool: Tool, shown: dict[str, Any], what: Path) -> None:
        """One checker on incrowd's release."""
        name = f"{tool.name}-{shown['table']}-check"
        if name in self.results:
            return
        written = self.work / "checked.json"
        ran = self.run(tool, {"table": str(what), "l": L, "published": str(written)})
        found = {**shown, "tool": tool.name, "job": "check", **self.described(ran)}
        if ran.ended == "well":
            told = json.loads(written.read_text(encoding="utf-8"))
            found |= {"found_k": told["k"], "found_l": told["l"]}
        self.keep(name, found)

    def run(self, tool: Tool, job: dict[str, Any]) -> Ran:
        """A process of the tool."""
        try:
            python = environment(tool.package, tool.requirements, self.work / "environments")
        except RuntimeError as error:
            return Ran("error", 0.0, 0, error=str(error))
        asked = {
            "package": tool.package,
            "quasi": QUASI,
            "numeric": NUMERIC,
            "sensitive": SENSITIVE,
            "k": K,
            "hierarchies": {name: str(path) for name, path in self.files.items()},
            "memory": int(self.asked.memory * 1e9),
            **tool.more,
            **job,
        }
        return run_job(python, HERE / "runners" / tool.runner, asked, self.work, self.asked.seconds)

    def too_much(self, tool: Tool, table: str) -> str:
        """Why a run is not worth starting: a smaller table, or the weaker job, was too much."""
        for result in self.results.values():
            if result["tool"] == tool.name and result["ended"] in ("time", "memory", "error"):
                if size_of(result["table"]) < size_of(table):
                    return "a smaller table did not finish"
                if result["table"] == table and result["job"] == "k":
                    return "k alone did not finish"
        return ""

    def in_order(self) -> list[dict[str, Any]]:
        """The results by table, job and tool, whenever each was made."""
        tools = [tool.name for tool in [*incrowd_tools(), *PEERS, VERIFY, PYCANON]]
        jobs = ["k", "l", "check"]
        return sorted(
            self.results.values(),
            key=lambda result: (
                size_of(result["table"]),
                jobs.index(result["job"]),
                tools.index(result["tool"]),
            ),
        )

    def described(self, ran: Ran) -> dict[str, Any]:
        """What became of a process, with the limits it had."""
        return {
            **asdict(ran),
            "limit": self.asked.seconds,
            "memory": int(self.asked.memory * 1e9),
        }

    def keep(self, name: str, result: dict[str, Any]) -> None:
        """Add a result, write all of them, and say it."""
        self.results[name] = result
        self.kept.write_text(json.dumps(self.results, indent=1), encoding="utf-8")
        said = ("seconds", "whole", "peak", "ncp", "groups", "broken", "error", "load")
        told = {key: result[key] for key in said if result.get(key)}
        print(name, result["ended"], told, file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for everything made")
    parser.add_argument("--rows", nargs="+", default=["adult", "100000", "1000000"])
    parser.add_argument("--jobs", nargs="+", choices=["k", "l"], default=["k", "l"])
    parser.add_argument("--tools", nargs="*", help="only tools whose names begin so")
    parser.add_argument("--seconds", type=float, default=300, help="limit of one process")
    parser.add_argument("--memory", type=float, default=8, help="limit of one process, in GB")
    parser.add_argument("--again", action="store_true", help="forget the results of the folder")
    parser.add_argument("--measure", type=Path, help="a published table, made by hand")
    parser.add_argument("--labels", choices=["incrowd", "hierarchy", "sets"], default="hierarchy")
    comparison = Comparison(parser.parse_args())
    if comparison.asked.measure is not None:
        print(comparison.by_hand(comparison.asked.rows[0]))
        return
    for rows in sorted(comparison.asked.rows, key=size_of):
        comparison.do(rows)
    print(page(comparison.in_order()))


if __name__ == "__main__":
    main()
