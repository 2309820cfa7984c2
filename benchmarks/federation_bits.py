"""What it costs to open one bit about all crowds instead of their counts, among real processes.

    python benchmarks/federation_bits.py [--hospitals 3 5] [--crowds 100 1000 10000] [--runs 3]
                [--most 10000000] [--without 0]

Every hospital is a process of its own on this machine; they meet at the leader over HTTPS with
mutual TLS, as in a real run. Each crowd has 20 to 49 records at every hospital and one protected
value, of which it holds up to 3; K = 20, C = 20 %, and all crowds are large and mixed enough (the
answer does not change the cost). *bit* is `Leader.holds`; *sums* is `Leader.sum` of the same
counts, sizes and protected ones, which opens them all. Seconds are the median over the runs of a
session after one that is not counted, on a machine whose cores the hospitals share; *processor* is
the time that the leader's process alone computed. Bytes are those of the messages of the hospital
that sends and gets most, for one answer. Steps are rounds through the leader, one request and one
answer of every hospital each.
"""

from __future__ import annotations

import argparse
import multiprocessing
import socket
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from incrowd.federation.membership.kits import load_kit, make_kits
from incrowd.federation.protocols.crowd_bits import MOST, CrowdCounts
from incrowd.federation.session._leader import Leader
from incrowd.federation.session._party import serve
from incrowd.federation.session.session import terms_of
from incrowd.federation.transport.terms import TimeLimits

POLICY = """
attributes:
  sex: quasi
  surgery: sensitive
privacy:
  - lkc: {L: 2, K: 20, C: 0.2, sensitive: surgery, values: [Transgender]}
method: top-down-specialization
"""
LIMITS = TimeLimits(timeout=600, joining=120)
LAYOUT = "00" * 32
PROCESSES = multiprocessing.get_context("forkserver")


def own_crowds(place: int, cells: int, most: int, without: int) -> CrowdCounts:
    """Crowds of one hospital: large enough even when two of three are left out."""
    draw = np.random.default_rng(place)
    sizes, held = draw.integers(20, 50, cells), draw.integers(0, 4, (1, cells))
    return CrowdCounts(sizes, held, K=20, C=0.2, without=without, most=most)


def own_counts(crowds: CrowdCounts) -> Any:
    return np.concatenate((crowds.sizes, crowds.protected.ravel()))


def party(folder: Path, crowds: tuple[int, int, int]) -> None:
    kit = load_kit(folder)
    own = own_crowds(kit.place, *crowds)
    terms = terms_of(kit, LAYOUT)
    serve(kit, lambda _: own_counts(own), terms=terms, limits=LIMITS, crowds=lambda _: own)


def leader(folder: Path, crowds: tuple[int, int, int], runs: int, told: Any) -> None:
    kit = load_kit(folder)
    own = own_crowds(kit.place, *crowds)
    terms = terms_of(kit, LAYOUT)
    found: dict[str, list[Any]] = {"bit": [], "sums": []}
    with Leader(
        kit, lambda _: own_counts(own), terms=terms, limits=LIMITS, crowds=lambda _: own
    ) as leading:
        for number in range(runs + 1):
            for kind in found:
                lines = leading.traffic.values()
                before = [line.received + line.sent for line in lines]
                rounds = leading._rounds.round
                begun, computed = time.perf_counter(), time.process_time()
                if kind == "bit":
                    assert leading.holds({"number": number})
                else:
                    leading.sum({"number": number})
                steps = leading._rounds.round - rounds
                after = [line.received + line.sent for line in leading.traffic.values()]
                seconds = time.perf_counter() - begun
                most = max(b - a for a, b in zip(before, after, strict=True))
                found[kind].append((seconds, time.process_time() - computed, steps, most))
        leading.finish({})
    told.put({kind: each[1:] for kind, each in found.items()})


def session(hospitals: int, crowds: tuple[int, int, int], runs: int) -> dict[str, list[Any]]:
    """What one session of so many hospitals took, for every answer but the first."""
    names = [f"H{place}" for place in range(hospitals)]
    with tempfile.TemporaryDirectory() as work, socket.socket() as probe:
        policy = Path(work, "policy.yaml")
        policy.write_text(POLICY, encoding="utf-8")
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
        probe.close()
        kits = Path(work, "kits")
        make_kits(kits, names, policy, address)
        told = PROCESSES.Queue()
        first = PROCESSES.Process(target=leader, args=(kits / names[0], crowds, runs, told))
        others = [PROCESSES.Process(target=party, args=(kits / each, crowds)) for each in names[1:]]
        for process in (first, *others):
            process.start()
        found: dict[str, list[Any]] = told.get(timeout=3600)
        for process in (first, *others):
            process.join()
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description="What one bit costs among hospitals.")
    parser.add_argument("--hospitals", type=int, nargs="+", default=[3, 5])
    parser.add_argument("--crowds", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--most", type=int, default=MOST)
    parser.add_argument("--without", type=int, default=0)
    asked = parser.parse_args()
    print("hospitals   crowds  answer     seconds  processor  steps  bytes of a hospital")
    for hospitals in asked.hospitals:
        for cells in asked.crowds:
            told = session(hospitals, (cells, asked.most, asked.without), asked.runs)
            for kind, each in told.items():
                seconds, computed, steps, most = (
                    statistics.median(column) for column in zip(*each, strict=True)
                )
                print(
                    f"{hospitals:9}  {cells:7,}  {kind:6}  {seconds:10.3f}  {computed:9.3f}  "
                    f"{steps:5.0f}  {most:19,.0f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
