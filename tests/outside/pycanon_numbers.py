"""Run by the interpreter that has pycanon: prints what pycanon measures of some tables, as JSON.

    python pycanon_numbers.py FOLDER

FOLDER has jobs.json, a list of {"file", "quasi", "sensitive"}; files are CSV, all cells text.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from pycanon import anonymity


def measured(frame: pd.DataFrame, quasi: list[str], sensitive: str) -> dict[str, float | None]:
    alone = [sensitive]
    alpha, k = anonymity.alpha_k_anonymity(frame, quasi, alone)
    _, l = anonymity.recursive_c_l_diversity(frame, quasi, alone)  # noqa: E741
    return {
        "k": anonymity.k_anonymity(frame, quasi),
        "l": anonymity.l_diversity(frame, quasi, alone),
        "entropy l": anonymity.entropy_l_diversity(frame, quasi, alone),
        "recursive l": l,
        "alpha": alpha,
        "alpha k": k,
        "t": anonymity.t_closeness(frame, quasi, alone),
        "beta": anonymity.basic_beta_likeness(frame, quasi, alone),
        "delta": anonymity.delta_disclosure(frame, quasi, alone),
    }


def plain(number: object) -> object:
    return number.item() if isinstance(number, np.generic) else number


def main() -> None:
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    told = []
    for job in json.loads((folder / "jobs.json").read_text(encoding="utf-8")):
        frame = pd.read_csv(folder / job["file"], dtype=str, keep_default_na=False)
        found = measured(frame, job["quasi"], job["sensitive"])
        told.append({name: plain(number) for name, number in found.items()})
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
