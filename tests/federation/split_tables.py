"""Random tables split among three hospitals, and the policies that they agreed on."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

SEARCHES = ("greedy", "gain", "frugal")
GOALS = ("classification", "general")
TREES: dict[str, Any] = {
    "a": {"x": {"x1": ["p", "q"], "x2": ["r"]}, "y": {"y1": ["s", "t"]}},
    "b": ["u", "v", "w"],
}


@st.composite
def split_tables(draw: st.DrawFn) -> tuple[list[pl.DataFrame], dict[str, Any]]:
    rows = draw(st.integers(4, 40))
    cell = {
        "a": st.sampled_from([*"pqrst", None]),
        "b": st.sampled_from(["u", "v", "w", None]),
        "n": st.one_of(st.integers(0, 20), st.none()),
        "s": st.sampled_from(["0", "1", "2"]),
        "c": st.sampled_from(["yes", "no", None]),
    }
    some = {
        name: draw(st.lists(values, min_size=rows, max_size=rows)) for name, values in cell.items()
    }
    kinds = {name: pl.Int64 if name == "n" else pl.String for name in cell}
    table = pl.DataFrame(some, schema=kinds)
    owner = np.array(draw(st.lists(st.integers(0, 2), min_size=rows, max_size=rows)))
    owner[:3] = [0, 1, 2]
    C = draw(st.sampled_from([0.5, 0.8, 1.0]))
    listed = draw(st.sampled_from([None, ["0"], ["0", "2"]]))
    bounds = {"L": draw(st.integers(1, 4)), "K": draw(st.integers(1, 4)), "C": C, "sensitive": "s"}
    if listed is not None:
        bounds["values"] = listed
    policy = {
        "attributes": {
            "a": {"role": "quasi", "hierarchy": {"tree": TREES["a"]}},
            "b": {"role": "quasi", "hierarchy": {"tree": TREES["b"]}},
            "n": {
                "role": "quasi",
                "type": "numeric",
                "hierarchy": {"intervals": {"start": 0, "stop": 24, "widths": [3, 12]}},
            },
            "s": {"role": "sensitive", "type": "category", "hierarchy": {"tree": ["0", "1", "2"]}},
            "c": {"role": "target", "hierarchy": {"tree": ["yes", "no", "perhaps"]}},
        },
        "privacy": [{"lkc": bounds}],
        "method": {
            "name": "top-down-specialization",
            "search": draw(st.sampled_from(SEARCHES)),
        },
        "goal": draw(st.sampled_from(GOALS)),
        "missing": draw(st.sampled_from(["value", "drop"])),
    }
    return [table.filter(pl.Series(owner == place)) for place in range(3)], policy
