"""The tools that are compared: what each is called, how it is installed, what its labels mean.

To add a home of incrowd's records, add a line to `HOMES`; to add a tool, a runner in `runners/`
and an entry in `PEERS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

HOMES: dict[str, dict[str, Any]] = {
    "memory": {"engine": "memory"},
    "duckdb": {"engine": "duckdb"},
    "spark": {"engine": "spark", "spark": {"spark.master": "local[2]"}},
}
"""Where incrowd keeps the records, with what a policy says to get it there."""

METHODS: dict[str, Any] = {
    "mondrian": {"name": "mondrian", "split": "loss", "labels": "set"},
    "incognito": "incognito",
}
"""The methods of incrowd that are compared: local recoding, and full-domain as anjana does."""


@dataclass(frozen=True)
class Tool:
    """One line of the table."""

    name: str
    runner: str
    package: str
    requirements: tuple[str, ...] = ()
    """What pip installs in an environment of its own; nothing: this interpreter."""
    labels: str = "incrowd"
    """How published cells are written: `incrowd`, `hierarchy` or `sets`."""
    separator: str = ","
    """Between the members of a set."""
    diversity: bool = True
    """Whether the tool does k-anonymity and l-diversity at once."""
    publishes_sensitive: bool = True
    """Whether each record keeps its sensitive value."""
    manner: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)


def incrowd_tools() -> list[Tool]:
    """Incrowd by every method on every home."""
    return [
        Tool(
            f"incrowd {method} ({home})",
            "run_incrowd.py",
            "incrowd",
            manner="local recoding" if method == "mondrian" else "full-domain, optimal",
            more={"method": METHODS[method], "home": HOMES[home]},
        )
        for home in HOMES
        for method in METHODS
    ]


PEERS = [
    Tool(
        "anjana",
        "run_anjana.py",
        "anjana",
        ("anjana==1.2.3",),
        labels="hierarchy",
        manner="full-domain, greedy",
    ),
    Tool(
        "crowds",
        "run_crowds.py",
        "crowds",
        ("crowds==0.0.1",),
        labels="hierarchy",
        diversity=False,
        manner="full-domain, OLA",
    ),
    Tool(
        "anonypy",
        "run_anonypy.py",
        "anonypy",
        ("anonypy==0.2.1", "pandas==2.3.3"),
        labels="sets",
        manner="Mondrian",
    ),
    Tool(
        "anonypyx",
        "run_anonypyx.py",
        "anonypyx",
        ("anonypyx==0.2.11", "pandas==2.3.3"),
        labels="sets",
        manner="Mondrian",
    ),
    Tool(
        "privacy-preserver",
        "run_privacy_preserver.py",
        "privacy-preserver",
        ("privacy-preserver==1.0.1", "pandas==2.3.3"),
        labels="sets",
        manner="Mondrian",
    ),
    Tool(
        "polarfrost",
        "run_polarfrost.py",
        "polarfrost",
        ("polarfrost[spark]==0.2.1",),
        labels="sets",
        diversity=False,
        publishes_sensitive=False,
        manner="Mondrian",
    ),
    Tool(
        "anonymity-api",
        "run_anonymity_api.py",
        "anonymity-api",
        ("anonymity-api==1.0.4", "pandas==2.3.3"),
        labels="sets",
        separator="-",
        diversity=False,
        manner="Mondrian on numbers only",
    ),
]

VERIFY = Tool("incrowd verify", "run_verify.py", "incrowd")
PYCANON = Tool("pycanon", "run_pycanon.py", "pycanon", ("pycanon==1.3.6",))
