"""A small table of patients with every kind of column, and every promise to be asked of it."""

from __future__ import annotations

import itertools
import random
from datetime import date, timedelta
from functools import cache
from typing import Any

import polars as pl
from published_labels import calendar_bounds, members, shown_size

Record = dict[str, str | None]

STAGES = ("I", "II", "III", "IV")
STAGE_TREE = {"early": ["I", "II"], "late": ["III", "IV"]}
JOB_TREE = {
    "Manual": {"Wood": ["carpenter", "joiner"], "Land": ["farmer"]},
    "Office": {"Law": ["judge", "lawyer", "notary"], "Money": ["banker"]},
}
ILL_TREE = {"Lung": ["asthma", "copd", "flu"], "Gut": ["polyp", "ulcer"]}
SECRECY = [["copd", "ulcer"], ["polyp", ""], ["asthma", "flu"]]
"""Categories of `ill`, most sensitive first; an empty text stands for missing cells."""
CITIES = ("Oslo", "a|b", "{x}", "*", "[1-2)", "\\n", 'q"')
QUASI = ("age", "score", "birth", "stage", "job", "city")
OTHERS = ("ill", "grade", "income", "ward")

ATTRIBUTES: dict[str, Any] = {
    "id": "identifier",
    "age": {
        "role": "quasi",
        "hierarchy": {"intervals": {"start": 0, "stop": 100, "widths": [5, 50]}},
    },
    "score": {"role": "quasi", "hierarchy": "auto"},
    "birth": {"role": "quasi", "hierarchy": "dates"},
    "stage": {"role": "quasi", "order": list(STAGES), "hierarchy": {"tree": STAGE_TREE}},
    "job": {"role": "quasi", "hierarchy": {"tree": JOB_TREE}},
    "city": "quasi",
    "ill": {"role": "sensitive", "hierarchy": {"tree": ILL_TREE}},
    "grade": {"role": "sensitive", "type": "numeric"},
    "income": "target",
    "ward": "keep",
}

PRIVACY: dict[str, list[dict[str, Any]]] = {
    "k-anonymity": [{"k-anonymity": {"k": 4}}],
    "distinct": [{"l-diversity": {"l": 3, "sensitive": "ill"}}],
    "entropy": [{"l-diversity": {"l": 2.2, "kind": "entropy", "sensitive": "ill"}}],
    "recursive": [{"l-diversity": {"l": 2, "kind": "recursive", "c": 1.5, "sensitive": "ill"}}],
    "frequency": [{"l-diversity": {"l": 2.5, "kind": "frequency", "sensitive": "ill"}}],
    "equal": [{"t-closeness": {"t": 0.35, "sensitive": "ill"}}],
    "ordered": [{"t-closeness": {"t": 0.2, "distance": "ordered", "sensitive": "grade"}}],
    "hierarchical": [{"t-closeness": {"t": 0.3, "distance": "hierarchical", "sensitive": "ill"}}],
    "p-sensitive": [{"p-sensitive": {"p": 3, "k": 4, "sensitive": "ill"}}],
    "alpha-k": [{"alpha-k": {"alpha": 0.4, "k": 3, "sensitive": "ill"}}],
    "alpha-k listed": [{"alpha-k": {"alpha": 0.3, "k": 3, "sensitive": "ill", "values": ["flu"]}}],
    "confidence": [{"confidence-bounding": {"C": 0.5, "sensitive": "grade"}}],
    "confidence listed": [
        {"confidence-bounding": {"C": 0.3, "sensitive": "ill", "values": ["copd", "ulcer"]}}
    ],
    "lkc": [{"lkc": {"L": 2, "K": 4, "C": 0.6, "sensitive": "ill"}}],
    "lkc listed": [{"lkc": {"L": 3, "K": 2, "C": 0.5, "sensitive": "ill", "values": ["flu"]}}],
    "lkc of sizes": [{"lkc": {"L": 1, "K": 9}}],
    "lkc and another": [
        {"lkc": {"L": 2, "K": 5}},
        {"l-diversity": {"l": 2, "sensitive": "ill"}},
    ],
    "multi-sensitive": [
        {"multi-sensitive": {"k": 3, "l": 2, "sensitive": ["ill", "grade"], "check": "exact"}}
    ],
    "multi-sensitive greedy": [
        {"multi-sensitive": {"k": 3, "l": 2, "sensitive": ["ill", "grade"], "check": "greedy"}}
    ],
    "multi-sensitive limited": [
        {
            "multi-sensitive": {
                "k": 3,
                "l": 3,
                "sensitive": ["ill", "grade"],
                "limits": {"grade": 1},
            }
        },
        {"confidence-bounding": {"C": 0.8, "sensitive": "ill"}},
    ],
    "exponential-l": [
        {"k-anonymity": {"k": 3}},
        {"exponential-l": {"l": 2, "sensitive": ["income"]}},
    ],
    "l-alpha distinct": [
        {"l-alpha-diversity": {"l": 3, "alpha": 1.5, "sensitive": "ill", "categories": SECRECY}}
    ],
    "l-alpha entropy": [
        {
            "l-alpha-diversity": {
                "l": 2,
                "alpha": 1,
                "kind": "entropy",
                "sensitive": "ill",
                "categories": SECRECY,
                "weights": {"sensitivity": 2},
            }
        }
    ],
    "l-alpha recursive": [
        {
            "l-alpha-diversity": {
                "l": 2,
                "alpha": 2,
                "kind": "recursive",
                "c": 1.5,
                "sensitive": "ill",
                "categories": SECRECY,
                "weights": {"sensitivity": 1.5},
            }
        }
    ],
    "delta-disclosure": [
        {"k-anonymity": {"k": 3}},
        {"delta-disclosure": {"delta": 1.2, "sensitive": "grade"}},
    ],
    "beta-likeness basic": [
        {"k-anonymity": {"k": 3}},
        {"beta-likeness": {"beta": 1.5, "kind": "basic", "sensitive": "ill"}},
    ],
    "beta-likeness enhanced": [
        {"k-anonymity": {"k": 3}},
        {"beta-likeness": {"beta": 1, "kind": "enhanced", "sensitive": "ill"}},
    ],
    "several at once": [
        {"k-anonymity": {"k": 3}},
        {"l-diversity": {"l": 2, "kind": "entropy", "sensitive": "ill"}},
        {"t-closeness": {"t": 0.4, "sensitive": "ill"}},
    ],
    "several attributes": [
        {"k-anonymity": {"k": 3}},
        {"l-diversity": {"l": 2, "sensitive": "ill"}},
        {"t-closeness": {"t": 0.3, "distance": "ordered", "sensitive": "grade"}},
        {"confidence-bounding": {"C": 0.8, "sensitive": "income"}},
    ],
}
OPTIONS: list[dict[str, Any]] = [
    *(
        {"method": {"name": "mondrian", "split": "loss", "labels": "set", "resist": resist}}
        for resist in ("minimality", "minimality-proven")
    ),
    *(
        {"method": {"name": "mondrian", "split": split, "labels": labels, "resist": "nothing"}}
        for split, labels in itertools.product(("loss", "median"), ("set", "hierarchy"))
    ),
    *(
        {"method": {"name": "top-down-specialization", "search": search}, "goal": goal}
        for search, goal in itertools.product(
            ("best", "frugal", "gain", "greedy"), ("classification", "general")
        )
    ),
    *({"method": {"name": "top-down-local", "relocate": relocate}} for relocate in (True, False)),
    *(
        {"method": {"name": "incognito", "metric": metric}}
        for metric in ("loss", "precision", "discernibility")
    ),
    *(
        {"method": {"name": "research-value", "search": search}}
        for search in ("best-first", "global", "local", "hybrid", "distributed")
    ),
    *(
        {"method": {"name": "clustering", "distance": d, "suppression": s, "overlap": o}}
        for d, s, o in (
            ("ncp", False, "allow"),
            ("research-value", True, "allow"),
            ("euclidean", False, "forbid"),
        )
    ),
]
"""What a policy may say of its method."""


def option_name(option: int) -> str:
    """A few words for one of the options."""
    words = map(str, OPTIONS[option]["method"].values())
    return "-".join([*words, *(each for each in [OPTIONS[option].get("goal")] if each)])


def labels_of(option: int) -> str:
    """What cells show: sets, or nodes of hierarchies (every attribute here has one, or is flat)."""
    return str(OPTIONS[option]["method"].get("labels", "hierarchy"))


def patients(number: int = 72, seed: int = 5) -> list[Record]:
    """Records with about one missing cell in fifteen, `ward` unique, the rest repeated."""
    draw = random.Random(seed)

    def cell(value: object) -> str | None:
        return None if draw.random() < 1 / 15 else str(value)

    jobs = [job for branch in JOB_TREE.values() for leaf in branch.values() for job in leaf]
    ills = [ill for branch in ILL_TREE.values() for ill in branch]
    return [
        {
            "id": f"p{i:03}",
            "age": cell(draw.randint(18, 93)),
            "score": cell(f"{draw.randint(-12, 30) / 4:g}"),
            "birth": cell(date(1948, 5, 17) + timedelta(days=draw.randint(0, 15_000))),
            "stage": cell(draw.choice(STAGES)),
            "job": cell(draw.choice(jobs)),
            "city": cell(draw.choice(CITIES)),
            "ill": cell(draw.choice(ills)),
            "grade": cell(draw.choice((1, 2, 3, 4, 5))),
            "income": draw.choice(("low", "high")),
            "ward": f"w{i:03}",
        }
        for i in range(number)
    ]


def frame_of(records: list[Record]) -> pl.DataFrame:
    return pl.DataFrame(records, schema=dict.fromkeys(ATTRIBUTES, pl.String))


def policy_of(privacy: list[dict[str, Any]], **changed: Any) -> dict[str, Any]:
    return {"attributes": ATTRIBUTES, "privacy": privacy, "unit": "row", **changed}


def labels_above(name: str, cell: str | None) -> tuple[str, ...]:
    """The labels that the hierarchy of an attribute puts above a value (ranges and sets aside)."""
    if cell is None:
        return ()
    if name == "birth":
        year, month, _ = cell.split("-")
        quarter = (int(month) - 1) // 3 + 1
        return f"{year}-{month}", f"{year}-Q{quarter}", year, f"{year[:3]}0s"
    trees: dict[str, Any] = {"stage": STAGE_TREE, "job": JOB_TREE}
    return path_to(trees.get(name, {}), cell)


def path_to(tree: Any, leaf: str) -> tuple[str, ...]:
    if isinstance(tree, list):
        return ()
    for label, below in tree.items():
        if leaf in leaves(below):
            return (*path_to(below, leaf), label)
    return ()


def leaves(tree: Any) -> list[str]:
    return tree if isinstance(tree, list) else [v for below in tree.values() for v in leaves(below)]


@cache
def values_of_label(name: str, label: str) -> int | None:
    """How many values of the whole domain a label of a tree, or of the calendar, stands for."""
    if name == "birth":
        ends = calendar_bounds(label)
        return None if ends is None else int(ends[1] - ends[0])
    trees: dict[str, Any] = {"stage": STAGE_TREE, "job": JOB_TREE}
    known = leaves(trees.get(name, {}))
    return sum(label in labels_above(name, leaf) for leaf in known) if known else None


def domain_of(name: str, labels: list[str | None], mode: str) -> int | None:
    """How many values an attribute has, as far as the policy lists them or its labels show them.

    Missing counts where it is shown: by a range that is written `*` in the mode `set`, too.
    """
    missing = None in labels or any(None in (members(label) or ()) for label in labels if label)
    if name == "age":
        return 100 + (missing or (mode == "set" and "*" in labels))
    trees: dict[str, Any] = {"stage": STAGE_TREE, "job": JOB_TREE}
    if name in trees:
        return len(leaves(trees[name])) + missing
    return shown_size(labels, {"score": "numeric", "birth": "date"}.get(name, "category"))
