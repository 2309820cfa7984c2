"""Adult under LKC-privacy: errors of decision trees and discernibility, beside the paper's figures.

    python benchmarks/adult_lkc.py [--picture docs/pictures/adult-lkc.svg]

45,222 complete records, 13 quasi-identifiers, sensitive: Divorced and Separated in marital-status,
class: income, C = 20 %, K = 20 to 100, L = 2, 4, 6, as in section 6.1.1 of Mohammed, Fung, Hung,
Lee (2010). CE, BE and UE are means of five splits, 2/3 to train on and 1/3 to test on; DR is that
of a run for general analysis.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import polars as pl
from pages import Panel
from pages import draw as draw_panels

import incrowd
from incrowd import datasets
from incrowd.utility import classification, discernibility

KS = (20, 40, 60, 80, 100)
LS = (2, 4, 6)
PAPER_BE = 14.7
PAPER = {2: (15.0, 15.6), 4: (15.8, 18.8), 6: (15.8, 18.8)}
"""By L the range of CE that the text gives over all K."""
TREES: dict[str, Any] = {
    "workclass": {
        "Employee": {
            "Company": ["Private"],
            "Public servant": {
                "Federal": ["Federal-gov"],
                "State or local": ["State-gov", "Local-gov"],
            },
        },
        "Not an employee": {
            "Own business": ["Self-emp-inc", "Self-emp-not-inc"],
            "No wages": ["Without-pay"],
        },
    },
    "education": {
        "Below university": {
            "No diploma": {
                "Elementary school": {
                    "Up to grade 4": ["Preschool", "1st-4th"],
                    "Grades 5 to 8": ["5th-6th", "7th-8th"],
                },
                "Unfinished high school": ["9th", "10th", "11th", "12th"],
            },
            "Diploma or two-year degree": {
                "Diploma without degree": ["HS-grad", "Some-college"],
                "Two-year degree": ["Assoc-voc", "Assoc-acdm"],
            },
        },
        "University": {
            "First degree": ["Bachelors"],
            "Advanced degree": {
                "Second degree": ["Masters"],
                "Highest": ["Prof-school", "Doctorate"],
            },
        },
    },
    "occupation": {
        "Managers and professionals": ["Exec-managerial", "Prof-specialty"],
        "Other work": {
            "Office and sales": ["Tech-support", "Adm-clerical", "Sales"],
            "Manual work": {
                "Crafts and machines": ["Craft-repair", "Machine-op-inspct", "Transport-moving"],
                "Labourers": ["Handlers-cleaners", "Farming-fishing"],
            },
            "Services": {
                "Household and personal": ["Other-service", "Priv-house-serv"],
                "Safety and defence": ["Protective-serv", "Armed-Forces"],
            },
        },
    },
}
"""Deeper trees than the bundled ones, so that a first specialization tells little of a person."""


def complete() -> pl.DataFrame:
    """The complete records, without the fold they were published in."""
    return datasets.load("adult").drop("fold").drop_nulls()


def policy(table: pl.DataFrame, folder: Path, L: int, K: int, C: float, **more: Any) -> Any:
    attributes: dict[str, Any] = {"marital-status": "sensitive", "income": "target"}
    for name in table.columns:
        if name in attributes:
            continue
        attributes[name] = {"role": "quasi"}
        if name in TREES:
            attributes[name]["hierarchy"] = {"tree": TREES[name]}
        elif table.schema[name] == pl.String:
            attributes[name]["hierarchy"] = str(folder / "adult-hierarchies" / f"{name}.csv")
    bound: dict[str, Any] = {"L": L, "K": K, "C": C}
    if C < 1:
        bound |= {"sensitive": "marital-status", "values": ["Divorced", "Separated"]}
    return {"attributes": attributes, "privacy": [{"lkc": bound}], **more}


def measured(table: pl.DataFrame, folder: Path, search: str) -> list[dict[str, Any]]:
    """One row for each L and K, printed as it comes."""
    rows = []
    method = {"name": "top-down-specialization", "search": search}
    for L in LS:
        for K in KS:
            asked = policy(table, folder, L, K, 0.2, method=method)
            begun = time.perf_counter()
            release = incrowd.anonymize(table, {**asked, "goal": "classification"})
            seconds = time.perf_counter() - begun
            error = classification(release).ce
            general = incrowd.anonymize(table, {**asked, "goal": "general"})
            ratio = discernibility(general).dr
            rows.append({"search": search, "L": L, "K": K, "CE": 100 * error.mean, "DR": ratio})
            print(
                f"| {search} | {L} | {K} | {100 * error.mean:.1f} ± {100 * error.deviation:.1f} "
                f"| {ratio:.4f} | {seconds:.2f} |",
                flush=True,
            )
    return rows


def draw(rows: list[dict[str, Any]], baseline: float, upper: float, path: Path) -> None:
    """Errors and discernibility by K, one panel for each L, with the paper's range as a band."""
    errors, ratios = [], []
    for L in LS:
        here = [row for row in rows if row["L"] == L]
        errors.append(
            Panel(
                f"L = {L}",
                [(row["search"], row["K"], row["CE"]) for row in here],
                y="error in %",
                bounds=(13, 26),
                held={"BE": baseline, "UE": upper},
                band=PAPER[L],
            )
        )
        points = [(row["search"], row["K"], row["DR"]) for row in here]
        ratios.append(Panel("", points, x="K", y="DR", bounds=(0, 0.15)))
    draw_panels(
        [*errors, *ratios],
        path,
        columns=len(LS),
        title="Adult, C = 20 %: error of a decision tree (CE), and discernibility ratio (DR). "
        "Grey: CE in the paper.",
    )


def main() -> None:
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path)
    asked = parser.parse_args()
    table = complete()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        datasets.export_hierarchies("adult", folder)
        whole = incrowd.anonymize(table, policy(table, folder, 2, 20, 0.2, goal="classification"))
        errors = classification(whole, table)
        assert errors.be is not None
        baseline, upper = 100 * errors.be.mean, 100 * errors.ue.mean
        print(f"BE {baseline:.1f} %, UE {upper:.1f} % (paper: 14.7, 24.5)")
        print("| search | L | K | CE in % | DR | seconds |\n|---|---|---|---|---|---|")
        rows = [row for search in ("best", "greedy") for row in measured(table, folder, search)]
    for L in LS:
        costs = [row["CE"] - baseline for row in rows if row["L"] == L and row["search"] == "best"]
        print(f"L={L}: CE - BE {min(costs):.1f} to {max(costs):.1f}; paper: ", end="")
        print(f"{PAPER[L][0] - PAPER_BE:.1f} to {PAPER[L][1] - PAPER_BE:.1f}")
    if asked.picture is not None:
        draw(rows, baseline, upper, asked.picture)


if __name__ == "__main__":
    main()
