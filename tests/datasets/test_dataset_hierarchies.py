import csv
from collections import defaultdict
from functools import cache

import polars as pl
import pytest

from incrowd import datasets
from incrowd.datasets.resources import list_names, read_rows, read_text

ONE_TABLE = [name for name in datasets.names() if not datasets.describe(name).tables]
ALL = [
    (name, path.removesuffix(".csv"))
    for name in ONE_TABLE
    for path in list_names(f"hierarchies/{name}")
]


def hierarchy(name: str, column: str) -> list[list[str]]:
    return list(csv.reader(read_text(f"hierarchies/{name}/{column}.csv").splitlines()))


@cache
def data(name: str) -> pl.DataFrame:
    return datasets.load(name)


def test_there_are_hierarchies_for_the_columns_that_need_one() -> None:
    found = {name: {column for each, column in ALL if each == name} for name in ONE_TABLE}
    assert found["cancer-registry"] == {"race", "tumor_topography", "histology"}
    assert len(found["adult"]) == 9


@pytest.mark.parametrize(("name", "column"), ALL)
def test_covers_exactly_the_values_of_the_data(name: str, column: str) -> None:
    values = data(name)[column].drop_nulls().cast(pl.String).unique()
    covered = [row[0] for row in hierarchy(name, column)]
    assert len(set(covered)) == len(covered)
    assert set(values) == set(covered)


@pytest.mark.parametrize(("name", "column"), ALL)
def test_every_row_has_all_levels_and_ends_in_the_star(name: str, column: str) -> None:
    rows = hierarchy(name, column)
    assert len({len(row) for row in rows}) == 1
    assert all(row[-1] == "*" and "*" not in row[:-1] for row in rows)
    assert all(cell and cell == cell.strip() for row in rows for cell in row)


@pytest.mark.parametrize(("name", "column"), ALL)
def test_levels_are_nested(name: str, column: str) -> None:
    rows = hierarchy(name, column)
    for level in range(len(rows[0]) - 1):
        parents = defaultdict(set)
        for row in rows:
            parents[row[level]].add(row[level + 1])
        assert all(len(above) == 1 for above in parents.values()), level


@pytest.mark.parametrize(("name", "column"), ALL)
def test_no_label_stands_for_two_things(name: str, column: str) -> None:
    levels = [set(level) for level in zip(*hierarchy(name, column), strict=True)]
    assert len(set.union(*levels)) == sum(len(level) for level in levels)


def test_ages_lie_in_the_ranges_above_them() -> None:
    for age, *ranges, _ in hierarchy("adult", "age"):
        for label, width in zip(ranges, (5, 10, 20, 40), strict=True):
            low, high = label.removeprefix("[").removesuffix(")").split("-")
            assert int(low) <= int(age) < int(high)
            assert int(high) - int(low) == width


def test_education_is_listed_by_schooling() -> None:
    years = dict(data("adult").select("education", "education-num").unique().iter_rows())
    listed = [years[row[0]] for row in hierarchy("adult", "education")]
    assert listed == sorted(listed)


def test_hierarchies_of_the_registry_agree_with_its_tables() -> None:
    folder = "data/cancer-registry"
    system = {row["site"]: row["system"] for row in read_rows(f"{folder}/sites.csv")}
    assert hierarchy("cancer-registry", "race") == [
        [row["race"], row["origin"], row["larger"], "*"] for row in read_rows(f"{folder}/races.csv")
    ]
    assert hierarchy("cancer-registry", "tumor_topography") == sorted(
        [row["code"], row["site"], system[row["site"]], "*"]
        for row in read_rows(f"{folder}/topographies.csv")
    )
    assert hierarchy("cancer-registry", "histology") == sorted(
        [row["code"], row["family"], "*"] for row in read_rows(f"{folder}/histologies.csv")
    )


def test_files_hold_plain_lines_that_need_no_quoting() -> None:
    for name, column in ALL:
        text = read_text(f"hierarchies/{name}/{column}.csv")
        assert '"' not in text
        assert ";" not in text
