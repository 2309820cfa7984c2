"""Hospitals with real kits that run over TLS in threads of this process, each with its ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from federation_actors import BRIEF, LIMITS, free_port, give_up_on
from joint_tables import PARTIES, surgeries

from incrowd.errors import IncrowdError
from incrowd.federation.membership.kits import load_kit, make_kits
from incrowd.federation.run.hospital import Joint, join, lead

RECORDS = dict(zip("ABC", PARTIES, strict=True))


@dataclass
class Hospitals:
    """One consortium: its kits and the records of its members, below a folder."""

    folder: Path
    names: Sequence[str] = "ABC"
    records: Mapping[str, pl.DataFrame] = field(default_factory=lambda: RECORDS)
    policy: Mapping[str, Any] = field(default_factory=surgeries)
    states: Path | None = None
    """Where the ledgers of all hospitals are, one folder for each; below `folder` if left out."""
    kits: Path = field(init=False)
    logs: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.kits = self.folder / "kits"

    def make(self, **options: Any) -> Hospitals:
        """These hospitals, with kits."""
        path = self.folder / "policy.yaml"
        path.write_text(yaml.safe_dump(dict(self.policy)), encoding="utf-8")
        two = len(self.names) == 2
        address = f"127.0.0.1:{free_port()}"
        make_kits(self.kits, list(self.names), path, address, allow_two=two, **options)
        return self

    def state(self, name: str) -> Path:
        """Where the ledger of a hospital is."""
        return (self.states or self.folder) / f"state-{name}"

    def part(self, name: str, run: int = 0, **options: Any) -> Joint:
        """A hospital's part in a run."""
        kit = load_kit(self.kits / name)
        lines = self.logs.setdefault(name, [])
        return (lead if kit.leads else join)(
            kit, self.records[name], self.folder / f"{name}-{run}", log=lines.append,
            state=self.state(name), **{"limits": LIMITS, **options},
        )  # fmt: skip

    def run_without(self, absent: str) -> dict[str, Joint | IncrowdError]:
        """How a run ended that one hospital does not join: the leader gives up on it alone."""
        with pytest.MonkeyPatch.context() as patch:
            give_up_on(absent, lambda: True, patch)
            return self.run(leading={"limits": replace(LIMITS, joining=BRIEF)})

    def run(
        self, run: int = 0, *, leading: Mapping[str, Any] | None = None, **options: Any
    ) -> dict[str, Joint | IncrowdError]:
        """How a run ended at every hospital; some options may be for the leader alone."""
        of_leader = {self.names[0]: {**options, **(leading or {})}}

        def told(name: str) -> Joint | IncrowdError:
            try:
                return self.part(name, run, **of_leader.get(name, options))
            except IncrowdError as error:
                return error

        with ThreadPoolExecutor(len(self.names)) as pool:
            return dict(zip(self.names, pool.map(told, self.names), strict=True))


def require_well(ended: Mapping[str, Joint | IncrowdError]) -> None:
    """Every hospital has its release."""
    assert all(isinstance(each, Joint) for each in ended.values()), ended
