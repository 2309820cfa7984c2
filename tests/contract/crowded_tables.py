"""Tables in which groups have little room: heaps of equal records, and strays beside them.

Categories are flat, without a hierarchy: a cell shows its value or nothing. A heap has up to five
times as many records as a group needs, so it lends records to strays, and what it lends comes back
to a group that is nearly full. Records that are drawn one by one hardly ever make such heaps.
"""

from __future__ import annotations

import random

import polars as pl

ILLS = ("asthma", "copd", "flu", "polyp", "ulcer", "gout")
Row = tuple[str, ...]


def crowded(seed: int) -> tuple[pl.DataFrame, int]:
    """Some heaps and strays that differ from one of them in a cell or two, and the k to ask for."""
    draw = random.Random(seed)
    k = draw.randint(3, 12)
    values = [draw.randint(2, 5) for _ in range(draw.randint(3, 5))]
    heaps = [_row(draw, values) for _ in range(draw.randint(3, 7))]
    rows = [heap for heap in heaps for _ in range(draw.randint(3 * k, 5 * k - 1))]
    rows += [_stray(draw, heaps, values) for _ in range(draw.randint(2, 3 * k))]
    return _frame(draw, rows), k


def survey(seed: int, k: int, records: int = 4_580) -> pl.DataFrame:
    """Answers to nine questions; the two answers that most people give are about as frequent."""
    draw = random.Random(seed)
    values = [draw.randint(2, 6) for _ in range(9)]
    heaps = [_row(draw, values), _row(draw, values)]
    rows = [heaps[0]] * (8 * k) + [heaps[1]] * (8 * k - draw.randint(2, k - 1))
    while len(rows) < records * 2 // 3:
        heaps.append(_row(draw, values))
        rows += [heaps[-1]] * draw.randint(1, 3 * k)
    rows += [_stray(draw, heaps, values) for _ in range(records - len(rows))]
    return _frame(draw, rows)


def _stray(draw: random.Random, heaps: list[Row], values: list[int]) -> Row:
    """A record that differs from those of a heap in a cell or two."""
    stray = list(draw.choice(heaps))
    for place in draw.sample(range(len(values)), draw.randint(1, 2)):
        stray[place] = f"v{draw.randrange(values[place] + 3)}"
    return tuple(stray)


def _row(draw: random.Random, values: list[int]) -> Row:
    return tuple(f"v{draw.randrange(many)}" for many in values)


def _frame(draw: random.Random, rows: list[Row]) -> pl.DataFrame:
    """The rows as a table, with an illness of each record that none has much more often."""
    names = [f"q{place}" for place in range(len(rows[0]))]
    ills = [ILLS[at % len(ILLS)] for at in range(len(rows))]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame.with_columns(pl.Series("ill", draw.sample(ills, len(ills))))
