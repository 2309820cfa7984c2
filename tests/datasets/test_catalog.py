from collections.abc import Callable
from pathlib import Path

import pytest

from incrowd import datasets
from incrowd.errors import InputError, OutputError, ParameterError


def test_names_are_sorted() -> None:
    assert datasets.names() == [
        "adult",
        "adult-health",
        "blood-transfusions",
        "cancer-registry",
        "death-certificates",
        "patient-histories",
    ]


ONE_TABLE = [name for name in datasets.names() if not datasets.describe(name).tables]


@pytest.mark.parametrize("name", ONE_TABLE)
def test_description_lists_the_columns_of_the_data_in_order(name: str) -> None:
    info = datasets.describe(name)
    assert [column.name for column in info.columns] == datasets.load(name, rows=5).columns
    assert all(column.meaning and "\n" not in column.meaning for column in info.columns)
    assert info.title
    assert info.licence
    assert info.attribution


@pytest.mark.parametrize("name", ONE_TABLE)
def test_description_tells_the_usual_number_of_rows(name: str) -> None:
    assert datasets.load(name).height == datasets.describe(name).rows


@pytest.mark.parametrize(
    "ask",
    [
        datasets.load,
        datasets.describe,
        datasets.policy,
        lambda name: datasets.export_hierarchies(name, "nowhere"),
    ],
)
def test_unknown_name_is_refused_with_the_nearest_one(ask: Callable[[str], object]) -> None:
    with pytest.raises(InputError, match=r"No data set 'adlut'\. Did you mean 'adult'\?"):
        ask("adlut")


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (datasets.load, "several tables: take load_histories"),
        (datasets.policy, "without a policy"),
        (lambda name: datasets.export_hierarchies(name, "nowhere"), "without hierarchies"),
    ],
)
def test_a_data_set_of_several_tables_is_not_given_as_one(
    ask: Callable[[str], object], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        ask("patient-histories")


def test_unknown_name_near_nothing_still_lists_the_legal_ones() -> None:
    listed = "There are: adult, adult-health, blood-transfusions, cancer-registry"
    with pytest.raises(InputError, match=listed) as caught:
        datasets.load("xyz")
    assert "Did you mean" not in str(caught.value)


@pytest.mark.parametrize("name", ONE_TABLE)
@pytest.mark.parametrize("rows", [0, -3, 2.5, True, "10"])
def test_rows_that_are_no_count_are_refused(name: str, rows: object) -> None:
    with pytest.raises(ParameterError, match="rows must be a whole number of at least 1"):
        datasets.load(name, rows=rows)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 0.5, None])
def test_seed_that_is_no_count_is_refused(seed: object) -> None:
    with pytest.raises(ParameterError, match="seed must be a whole number of at least 0"):
        datasets.load("cancer-registry", rows=2, seed=seed)  # type: ignore[arg-type]


def test_export_makes_the_folder_and_returns_what_it_wrote(tmp_path: Path) -> None:
    written = datasets.export_hierarchies("adult", tmp_path / "new")
    assert {path.parent for path in written} == {tmp_path / "new" / "adult-hierarchies"}
    assert sorted(path.stem for path in written) == [
        "age",
        "education",
        "marital-status",
        "native-country",
        "occupation",
        "race",
        "relationship",
        "sex",
        "workclass",
    ]
    assert all(path.read_text().endswith(",*\n") for path in written)


def test_export_again_changes_nothing(tmp_path: Path) -> None:
    first = datasets.export_hierarchies("cancer-registry", tmp_path)
    before = [path.read_bytes() for path in first]
    assert datasets.export_hierarchies("cancer-registry", tmp_path) == first
    assert [path.read_bytes() for path in first] == before


def test_export_never_overwrites_an_edited_hierarchy(tmp_path: Path) -> None:
    first, *others = datasets.export_hierarchies("adult", tmp_path)
    others[-1].write_text("mine,*\n")
    first.unlink()
    with pytest.raises(OutputError, match=r"workclass\.csv exists"):
        datasets.export_hierarchies("adult", tmp_path)
    assert others[-1].read_text() == "mine,*\n"
    assert not first.exists()


def test_export_to_a_place_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "adult-hierarchies").write_text("")
    with pytest.raises(OutputError, match="Cannot write the hierarchies"):
        datasets.export_hierarchies("adult", tmp_path)
