"""Hierarchies from files: one line per value, comma or semicolon, as ARX writes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from coded_columns import assert_is_a_tree, cells, coded, paths, weighed

from incrowd.errors import HierarchyError
from incrowd.hierarchies import Hierarchy, from_file, from_lines
from incrowd.table import Column

WARDS = [
    ["Tech", "Technical", "*"],
    ["Craft", "Technical", "*"],
    ["Service", "Other", "*"],
    ["Farming", "Other", "*"],
]


def written(folder: Path, text: str, name: str = "wards.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def lines(rows: list[list[str]], separator: str) -> str:
    return "".join(separator.join(row) + "\n" for row in rows)


def read(folder: Path, text: str, column: Column) -> tuple[Column, Hierarchy]:
    return from_file(column, written(folder, text))


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_comma_and_semicolon_files_are_read(
    tmp_path: Path, separator: str, ending: str, mark: str
) -> None:
    text = mark + lines(WARDS, separator).replace("\n", ending)
    before = ["Service", "Tech", "Craft", "Tech", "Farming"]
    column, hierarchy = read(tmp_path, text, coded(before))
    assert paths(column, hierarchy) == {row[0]: tuple(row[1:]) for row in WARDS}
    assert cells(column) == before
    assert hierarchy.kind == "file"
    assert_is_a_tree(column, hierarchy)


def test_values_follow_the_order_of_the_file(tmp_path: Path) -> None:
    column, _ = read(tmp_path, lines(WARDS, ";"), coded(["Craft", "Farming", "Service", "Tech"]))
    assert column.values == ("Tech", "Craft", "Service", "Farming")


def test_values_of_one_label_come_together_wherever_their_lines_are(tmp_path: Path) -> None:
    scattered = [WARDS[0], WARDS[2], WARDS[1], WARDS[3]]
    column, hierarchy = read(
        tmp_path, lines(scattered, ";"), coded(["Craft", "Farming", "Service", "Tech"])
    )
    assert column.values == ("Tech", "Craft", "Service", "Farming")
    assert hierarchy.labels[1] == ("Technical", "Other")


@pytest.mark.parametrize(
    "first",
    ["Smith, Jones, Lee and sons;X;*", '"a,b,c,d";X;*', "a, b;X;*"],
    ids=["more commas", "quoted commas", "fewer commas"],
)
def test_commas_inside_the_values_of_a_semicolon_file_do_not_part_them(
    tmp_path: Path, first: str
) -> None:
    value = first.partition(";")[0].strip('"')
    column, hierarchy = read(tmp_path, f"{first}\nplain;X;*\n", coded([value, "plain"]))
    assert paths(column, hierarchy) == {value: ("X", "*"), "plain": ("X", "*")}


def test_quoted_cells_may_hold_the_separator_and_quotes(tmp_path: Path) -> None:
    text = '"a;b";"say ""x""";*\nc;d;*\n'
    column, hierarchy = read(tmp_path, text, coded(["a;b", "c"]))
    assert paths(column, hierarchy) == {"a;b": ('say "x"', "*"), "c": ("d", "*")}


def test_blank_lines_and_spaces_around_cells_do_not_matter(tmp_path: Path) -> None:
    text = "\r\n a ; A ; * \r\n\r\nb;B;*\r\n\r\n"
    column, hierarchy = read(tmp_path, text, coded(["a", "b"]))
    assert paths(column, hierarchy) == {"a": ("A", "*"), "b": ("B", "*")}


def test_a_value_that_the_data_write_with_a_space_is_found_as_written(tmp_path: Path) -> None:
    column, hierarchy = read(tmp_path, " a;A;*\nb;B;*\n", coded([" a", "b"]))
    assert paths(column, hierarchy) == {" a": ("A", "*"), "b": ("B", "*")}


def test_values_that_the_data_lack_count_in_the_domain(tmp_path: Path) -> None:
    column, hierarchy = read(tmp_path, lines(WARDS, ";"), coded(["Tech", "Service"]))
    assert weighed(hierarchy) == [{"Technical": 2, "Other": 2}, {"*": 4}]
    assert hierarchy.total == 4
    assert hierarchy.losses()[1, 0] == pytest.approx(1 / 3)
    assert_is_a_tree(column, hierarchy)


def test_missing_is_a_value_of_its_own_under_the_root(tmp_path: Path) -> None:
    column, hierarchy = read(tmp_path, lines(WARDS, ";"), coded(["Tech", None, "Service", None]))
    assert paths(column, hierarchy)[None] == ("", "*")
    assert hierarchy.total == 5
    assert cells(column) == ["Tech", None, "Service", None]
    assert_is_a_tree(column, hierarchy)


def test_a_root_is_added_to_a_file_without_one(tmp_path: Path) -> None:
    column, hierarchy = read(tmp_path, "a;A\nb;A\nc;C\n", coded(["a", "b", "c"]))
    assert paths(column, hierarchy) == {"a": ("A", "*"), "b": ("A", "*"), "c": ("C", "*")}
    assert weighed(hierarchy) == [{"A": 2, "C": 1}, {"*": 3}]


def test_the_root_covers_the_whole_domain_also_when_the_data_lie_under_one_label(
    tmp_path: Path,
) -> None:
    column, hierarchy = read(tmp_path, "a;A\nb;A\nc;C\nd;C\n", coded(["a", "b", None]))
    assert paths(column, hierarchy) == {"a": ("A", "*"), "b": ("A", "*"), None: ("", "*")}
    assert weighed(hierarchy) == [{"A": 2, "": 1}, {"*": 5}]


def test_a_single_top_label_is_the_root(tmp_path: Path) -> None:
    _column, hierarchy = read(tmp_path, "a;Any\nb;Any\n", coded(["a", "b"]))
    assert hierarchy.height == 1
    assert hierarchy.labels[1] == ("Any",)


def test_a_file_of_values_only_is_a_flat_hierarchy(tmp_path: Path) -> None:
    column, hierarchy = read(tmp_path, "a\nb\nc\n", coded(["a", "b"]))
    assert paths(column, hierarchy) == {"a": ("*",), "b": ("*",)}
    assert hierarchy.total == 3


def test_a_star_below_the_root_weighs_the_whole_domain(tmp_path: Path) -> None:
    text = "a;*;*\nb;*;*\nc;C;*\nd;C;*\n"
    column, hierarchy = read(tmp_path, text, coded(["a", "b", "c", "d"]))
    assert weighed(hierarchy)[0] == {"*": 4, "C": 2}
    assert_is_a_tree(column, hierarchy)


def test_a_single_value_and_no_value(tmp_path: Path) -> None:
    column, hierarchy = read(tmp_path, "a;A;*\n", coded(["a", "a"]))
    assert (hierarchy.total, hierarchy.losses().tolist()) == (1, [[0.0], [0.0], [0.0]])
    column, hierarchy = read(tmp_path, "a;A;*\n", coded([None, None]))
    assert column.cardinality == 1
    assert_is_a_tree(column, hierarchy)


def test_numbers_and_dates_are_found_however_they_are_written(tmp_path: Path) -> None:
    column, hierarchy = read(
        tmp_path, "07;low;*\n8.0;low;*\n1e1;high;*\n", coded([7, 8, 10], "numeric")
    )
    assert paths(column, hierarchy) == {"7": ("low", "*"), "8": ("low", "*"), "10": ("high", "*")}
    days = coded(["2020-01-02"], "date")
    _, hierarchy = read(tmp_path, " 2020-01-02 ;2020;*\n", days)
    assert hierarchy.labels[1] == ("2020",)


def test_uncovered_values_are_counted_and_never_shown(tmp_path: Path) -> None:
    secrets = ["Tech", "Zebra", "Tech", "Yak", "Zebra", None]
    with pytest.raises(HierarchyError) as caught:
        read(tmp_path, lines(WARDS, ";"), coded(secrets))
    message = str(caught.value)
    assert "'ward'" in message
    assert "2 distinct values (3 records, the first is record 2)" in message
    assert "wards.csv" in message
    assert "Zebra" not in message
    assert "Yak" not in message


def test_levels_that_are_not_nested_are_refused_with_their_number(tmp_path: Path) -> None:
    text = "a;A;X;*\nb;A;Y;*\nc;C;Y;*\n"
    with pytest.raises(
        HierarchyError, match=r"1 label\(s\) of level 1 lie under several labels of"
    ):
        read(tmp_path, text, coded(["a", "b", "c"]))


def test_nesting_is_checked_for_values_that_the_data_lack_too(tmp_path: Path) -> None:
    with pytest.raises(HierarchyError, match="nested"):
        read(tmp_path, "a;A;X;*\nb;A;Y;*\n", coded(["a"]))


def test_a_star_under_another_label_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HierarchyError, match=r"'\*' of level 1 lies under another label"):
        read(tmp_path, "a;*;B;*\nb;A;B;*\n", coded(["a", "b"]))


def test_a_value_with_two_different_lines_is_refused_and_not_shown(tmp_path: Path) -> None:
    with pytest.raises(HierarchyError, match="a value stands twice") as caught:
        read(tmp_path, "Zebra;A;*\nb;A;*\nZebra;B;*\n", coded(["b"]))
    assert "Zebra" not in str(caught.value)


def test_the_same_number_in_two_spellings_is_one_value(tmp_path: Path) -> None:
    with pytest.raises(HierarchyError, match="stands twice"):
        read(tmp_path, "7;A;*\n07;B;*\n", coded([7], "numeric"))


def test_a_repeated_line_counts_once(tmp_path: Path) -> None:
    _, hierarchy = read(tmp_path, "a;A;*\nb;A;*\na;A;*\n", coded(["a", "b"]))
    assert hierarchy.total == 2


def test_a_ragged_line_is_named(tmp_path: Path) -> None:
    with pytest.raises(HierarchyError, match=r"line 4 of 'wards.csv' has 2 cells, the first line"):
        read(tmp_path, "a;A;*\n\nb;B;*\nc;*\n", coded(["a"]))


@pytest.mark.parametrize("text", ["a;;*\nb;B;*\n", ";A;*\nb;B;*\n", "a;A;*;\nb;B;*;\n"])
def test_an_empty_cell_is_refused_since_it_would_be_published_as_missing(
    tmp_path: Path, text: str
) -> None:
    with pytest.raises(HierarchyError, match="is empty"):
        read(tmp_path, text, coded(["b"]))


@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_an_empty_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(HierarchyError, match=r"'wards.csv' is empty"):
        read(tmp_path, text, coded(["a"]))


def test_what_cannot_be_read_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(HierarchyError, match=r"there is no file '.*absent.csv'"):
        from_file(coded(["a"]), tmp_path / "absent.csv")
    with pytest.raises(HierarchyError, match="cannot be read"):
        from_file(coded(["a"]), tmp_path)
    latin = tmp_path / "latin.csv"
    latin.write_bytes("Z\xfcrich;CH;*\n".encode("latin-1"))
    with pytest.raises(HierarchyError, match=r"'latin.csv' cannot be read as UTF-8 text"):
        from_file(coded(["a"]), latin)
    long = written(tmp_path, '"' + "x" * 200_000 + '";A\n', "long.csv")
    with pytest.raises(HierarchyError, match=r"'long.csv' cannot be read"):
        from_file(coded(["a"]), long)


def test_labels_of_a_numeric_column_must_join_neighbours() -> None:
    rows = [["1", "odd"], ["2", "even"], ["3", "odd"]]
    with pytest.raises(HierarchyError, match="level 1 joins values that are not neighbours"):
        from_lines(coded([1, 2, 3], "numeric"), rows, "the test")
    column, hierarchy = from_lines(coded([1, 2, 3], "category"), rows, "the test")
    assert paths(column, hierarchy) == {"1": ("odd", "*"), "2": ("even", "*"), "3": ("odd", "*")}
    assert_is_a_tree(column, hierarchy)


def test_neighbours_are_those_of_the_data_and_of_a_given_order() -> None:
    rows = [["low", "L"], ["mid", "M"], ["high", "L"]]
    order = ["low", "mid", "high"]
    with pytest.raises(HierarchyError, match="in the order of this ordered column"):
        from_lines(coded(order, "ordered", order=order), rows, "the test")
    _column, hierarchy = from_lines(
        coded(["low", "high"], "ordered", order=order), rows, "the test"
    )
    assert hierarchy.labels[1] == ("L",)


def test_ages_in_bands_of_years_as_arx_writes_them(tmp_path: Path) -> None:
    def band(age: int, width: int) -> str:
        low = age // width * width
        return f"{low}-{low + width - 1}"

    rows = [[str(age), band(age, 5), band(age, 10), band(age, 20), "*"] for age in range(1, 100)]
    column, hierarchy = read(tmp_path, lines(rows, ";"), coded([17, 20, 39, 90], "numeric"))
    assert paths(column, hierarchy) == {
        "17": ("15-19", "10-19", "0-19", "*"),
        "20": ("20-24", "20-29", "20-39", "*"),
        "39": ("35-39", "30-39", "20-39", "*"),
        "90": ("90-94", "90-99", "80-99", "*"),
    }
    assert hierarchy.total == 99
    assert weighed(hierarchy)[2] == {"0-19": 19, "20-39": 20, "80-99": 20}
    assert_is_a_tree(column, hierarchy)
