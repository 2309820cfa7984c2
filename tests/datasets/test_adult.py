import polars as pl
import pytest

from incrowd import datasets
from incrowd.datasets.resources import read_text
from incrowd.errors import InputError


@pytest.fixture(scope="module")
def adult() -> pl.DataFrame:
    return datasets.load("adult")


def test_has_the_published_numbers_of_rows(adult: pl.DataFrame) -> None:
    complete = adult.drop_nulls()
    assert adult.height == 48_842
    assert complete.height == 45_222
    assert complete.filter(pl.col("fold") == "train").height == 30_162


def test_numbers_are_integers_and_the_rest_is_text(adult: pl.DataFrame) -> None:
    numbers = {name for name, dtype in adult.schema.items() if dtype == pl.Int64}
    assert numbers == {
        "age",
        "fnlwgt",
        "education-num",
        "capital-gain",
        "capital-loss",
        "hours-per-week",
    }
    assert all(adult.schema[name] == pl.String for name in set(adult.columns) - numbers)


def test_unknown_values_are_missing_and_nothing_is_padded(adult: pl.DataFrame) -> None:
    missing = {
        name: count for name, count in adult.null_count().row(0, named=True).items() if count
    }
    assert missing == {"workclass": 2799, "occupation": 2809, "native-country": 857}
    for name in adult.columns:
        if adult.schema[name] == pl.String:
            values = adult[name].drop_nulls().unique().to_list()
            assert all(value and value == value.strip() and value != "?" for value in values)


def test_known_counts_of_people(adult: pl.DataFrame) -> None:
    assert adult["income"].value_counts(sort=True).rows() == [("<=50K", 37_155), (">50K", 11_687)]
    assert (adult["age"].min(), adult["age"].max()) == (17, 90)


def test_education_number_goes_with_the_education(adult: pl.DataFrame) -> None:
    assert adult.select("education", "education-num").unique().height == 16


def test_rows_are_the_first_ones(adult: pl.DataFrame) -> None:
    assert datasets.load("adult", rows=100).equals(adult.head(100))
    assert datasets.load("adult", rows=48_842).height == 48_842


def test_more_rows_than_there_are_is_refused_with_their_number() -> None:
    with pytest.raises(InputError, match="has 48,842 rows, 48,843 were asked for"):
        datasets.load("adult", rows=48_843)


def test_attribution_travels_with_the_file() -> None:
    notice = read_text("data/NOTICE")
    for words in ("Becker", "Kohavi", "1996", "UCI", "CC BY 4.0", "Changes"):
        assert words in notice
