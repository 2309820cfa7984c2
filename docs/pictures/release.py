"""Draws docs/pictures/release.svg: five patients of the generated registry, raw and released.

python docs/pictures/release.py
"""

from __future__ import annotations

import tempfile
from html import escape
from pathlib import Path

import polars as pl
import yaml

import incrowd
from incrowd import datasets

QUASI = ["birth_date", "gender", "race", "zip"]
COLUMNS = [*QUASI, "tumor_site"]
WIDTHS = [196, 72, 72, 170, 150]
ROW = 26


def released(folder: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One group of a release, with the raw records behind it in the same order."""
    registry = datasets.load("cancer-registry", rows=20_000)
    datasets.export_hierarchies("cancer-registry", folder)
    policy = yaml.safe_load(datasets.policy("cancer-registry"))
    policy["attributes"]["patient_id"] = "keep"  # to find the raw records again
    policy["unit"] = "row"
    path = folder / "policy.yaml"
    path.write_text(yaml.safe_dump(policy), encoding="utf-8")
    data = incrowd.anonymize(registry, path, accept_unprotected=True).data
    groups = data.group_by(QUASI, maintain_order=True).len()
    chosen = groups.filter(
        (pl.col("len") == 5)
        & pl.col("zip").str.count_matches(r"\|").is_between(1, 2)
        & pl.col("race").is_in(["White", "Black"])
        & pl.col("birth_date").str.starts_with("[19")
    )
    alone = registry.filter(pl.struct(QUASI).is_unique())["patient_id"].to_list()
    for shown in chosen.select(QUASI).iter_slices(1):
        group = data.join(shown, on=QUASI).sort("patient_id")
        if group["patient_id"].is_in(alone).all():
            raw = registry.filter(pl.col("patient_id").is_in(group["patient_id"].to_list()))
            return raw.sort("patient_id").select(COLUMNS).cast(pl.String), group.select(COLUMNS)
    raise LookupError("no group of five unique patients")


def table(frame: pl.DataFrame, top: int, title: str, colour: str) -> list[str]:
    """The lines of SVG that draw one table."""
    lines = [f'<text x="20" y="{top}" class="title">{escape(title)}</text>']
    y = top + 12
    lines.append(f'<rect x="16" y="{y}" width="{sum(WIDTHS) + 8}" height="{ROW}" fill="{colour}"/>')
    for number, row in enumerate([frame.columns, *frame.iter_rows()]):
        x = 24
        for name, width, cell in zip(frame.columns, WIDTHS, row, strict=True):
            changed = number > 0 and name in QUASI and title.startswith("Released")
            style = "head" if number == 0 else "label" if changed else "cell"
            shown = escape(cell if cell is not None else "")
            lines.append(f'<text x="{x}" y="{y + 18}" class="{style}">{shown}</text>')
            x += width
        y += ROW
    return lines


def main() -> None:
    """Write the picture beside this file."""
    with tempfile.TemporaryDirectory() as folder:
        raw, public = released(Path(folder))
    height = 2 * (ROW * 6 + 44) + 30
    width = sum(WIDTHS) + 40
    style = (
        ".title{font:600 15px sans-serif;fill:#1b1b1b}.head{font:600 12px sans-serif;fill:#fff}"
        ".cell{font:13px monospace;fill:#333}.label{font:600 13px monospace;fill:#0b5394}"
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-label="Five patients before and after: exact values become ranges and sets that all '
        'five share">',
        f"<style>{style}</style>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        *table(raw, 30, "Raw: each patient is the only one of their kind", "#7f3b08"),
        *table(public, 30 + ROW * 6 + 54, "Released: five patients, one crowd", "#0b5394"),
        "</svg>",
    ]
    path = Path(__file__).with_suffix(".svg")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
