"""Sources in many files."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from incrowd.errors import SourceError
from incrowd.sources import as_source, read

FRAME = pl.DataFrame({"age": ["30", "40"], "sex": ["F", None]})


def test_files_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        FRAME.with_columns(pl.lit(name).alias("file")).write_csv(tmp_path / f"{name}.csv")
    found = read(tmp_path)
    assert found["file"].to_list() == ["a", "a", "b", "b", "c", "c"]
    assert found["sex"].null_count() == 3
    assert read(tmp_path / "[ab].csv").height == 4
    assert read(tmp_path / "*.csv", columns=["sex"]).columns == ["sex"]


def test_folders_that_name_a_value_are_columns(tmp_path: Path) -> None:
    for year in ("2023", "2024", "__HIVE_DEFAULT_PARTITION__"):
        place = tmp_path / f"year={year}" / "ward=A%2FB"
        place.mkdir(parents=True)
        FRAME.write_parquet(place / "part.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "_temporary").mkdir()
    FRAME.write_parquet(tmp_path / "_temporary" / "part.parquet")
    found = read(tmp_path)
    assert found.columns == ["age", "sex", "year", "ward"]
    assert found["year"].to_list() == ["2023", "2023", "2024", "2024", None, None]
    assert set(found["ward"]) == {"A/B"}


def test_a_column_that_a_folder_names_too_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "sex=F"
    place.mkdir()
    FRAME.write_csv(place / "part.csv")
    with pytest.raises(SourceError, match="has a column 'sex', and so has the name of its folder"):
        read(tmp_path)


def test_files_with_other_columns_are_refused(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "a.csv")
    FRAME.select("sex", "age").write_csv(tmp_path / "b.csv")
    with pytest.raises(SourceError, match=r"b\.csv has other columns than the files before it"):
        read(tmp_path)


def test_text_and_parquet_together_are_refused(tmp_path: Path) -> None:
    FRAME.write_csv(tmp_path / "a.csv")
    FRAME.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(SourceError, match="has text files and Parquet files"):
        read(tmp_path)
    assert read(tmp_path / "*.parquet").equals(FRAME)


def test_a_pattern_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="matches no table"):
        read(tmp_path / "*.csv")


def test_pieces_of_parquet_are_written_as_the_whole_would_be(tmp_path: Path) -> None:
    """3.0 is 3 only where all numbers of the column are whole, also in other pieces."""
    from incrowd.sources.parquet import read_parquet_pieces
    from incrowd.table.dictionary import as_text

    begin = pl.datetime(2024, 1, 1)
    frame = pl.select(
        pl.Series("whole", [1.0, 2.0, None, float("nan")]),
        pl.Series("mixed", [1.0, 2.0, 3.5, 4.0]),
        pl.datetime_range(begin, pl.datetime(2024, 1, 4), "1d").alias("days"),
        pl.datetime_range(begin, pl.datetime(2024, 1, 2, 12), "12h").alias("hours"),
    )
    path = tmp_path / "t.parquet"
    frame.write_parquet(path)
    expected = {name: as_text(read(path).get_column(name)).to_list() for name in frame.columns}
    pieces = list(read_parquet_pieces(path, rows=2))
    assert [piece.height for piece in pieces] == [2, 2]
    for name in frame.columns:
        found = [text for piece in pieces for text in as_text(piece.get_column(name)).to_list()]
        assert found == expected[name], name
    assert next(as_source(path).pieces(None, {})).height == 4


def test_a_pattern_reads_values_only_from_the_folders_it_leaves_open(tmp_path: Path) -> None:
    place = tmp_path / "run=7" / "year=2024"
    place.mkdir(parents=True)
    FRAME.write_csv(place / "part.csv")
    assert read(tmp_path / "run=7" / "*" / "*.csv").columns == ["age", "sex", "year"]


def test_auto_weighs_all_files_of_a_pattern(tmp_path: Path) -> None:
    from incrowd import Policy
    from incrowd.engines.choice import choose

    for name in "ab":
        FRAME.write_csv(tmp_path / f"{name}.csv")
    asked = {"attributes": {"age": "quasi"}, "privacy": [{"k-anonymity": {"k": 2}}]}
    policy = Policy.from_mapping({**asked, "other": "drop", "memory": "0.1KB"})
    assert choose(policy, as_source(tmp_path / "a.csv")).name == "memory"
    assert (
        choose(policy, as_source(tmp_path / "*.csv")).name
        == choose(policy, as_source(tmp_path)).name
        == "duckdb"
    )


def test_an_output_inside_the_source_is_refused(tmp_path: Path) -> None:
    from incrowd.errors import OutputError
    from incrowd.publish.destination import destination

    with pytest.raises(OutputError, match="inside the folder of the source"):
        destination(tmp_path / "release", tmp_path)
