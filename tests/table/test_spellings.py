"""What counts as spellings of one value, which of them is published, and what the run says."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incrowd.errors import SourceError
from incrowd.table import Kind
from incrowd.table.coding import code_column
from incrowd.table.spellings import fold, folded, spelled_as
from incrowd.verify.counting.spellings import reading

SAME = [
    ["HIV", "hiv", "HIV ", "\tHIV", "\u00a0HIV", "H\u200bIV", "H\u00adIV", "HI\ufe0fV", "\uff28IV"],
    ["HIV", "h\u0131v", "H\u0130V", "H\u034fIV", "HI\u3164V", "\ufeffHIV", "HIV\x00", "\u202eHIV"],
    ["200", "200.0", "2e2", "2E+02", "+200", "0200", " 200.", "20e1", "\uff12\uff10\uff10"],
    ["200", "\u0662\u0660\u0660", "\u0968\u0966\u0966", "2\u200b00", "2000e-1"],
    ["-5", "-5.0", "\u22125", "\u20135", "-05"],
    ["0", "-0", "0.00", "+0e7", ".0"],
    [".5", "0.5", "0.50", "5e-1"],
    ["Stra\u00dfe", "STRASSE", "strasse", "Stra\u1e9ee"],
    ["\ufb01stula", "fistula", "Fistula"],
    ["A\u0301\u0323", "A\u0323\u0301", "\u1ea0\u0301", "\u1ea1\u0301"],
    ["Crohn's  disease", "crohn\u2019s disease", "Crohn's\u2003disease", "Crohn's\u2800disease"],
    ["COVID-19", "Covid\u201119", "covid\u201019", "COVID\u201319"],
    ["H2O", "H\u2082O", "h\u00b2o"],
    ["C12H22", "C\u2081\u2082H\u2082\u2082"],
    ["CD4+", "CD4\u207a"],
    ["5", "\u2075", "\u2464"],
    ["10\u2075", "1\u200b0\u2075", "10\u200b\u2075", "\uff11\uff10\u2075", " 10\u2075 "],
    ["200", "2e0000000002", "2e00000000002", "2e+000000000002", "2000e-00000000001"],
    ["0", "0e1234567890", "0e-12345678901", "-0.0e99999999999999999999"],
    ["1e99999999999", "10e99999999998", "0.1e100000000000", "1e+099999999999"],
    ["1e-99999999999", "10e-100000000000", "0.01e-99999999997"],
    ["1e" + "9" * 5000, "10e" + "9" * 4999 + "8", "0.1e1" + "0" * 5000],
    ["", " ", "\u200b", "\u00a0\u2800", "\x00"],
]
APART = [
    ["HIV", "Human immunodeficiency virus"],
    ["HIV", "H I V"],
    ["A", "\u0410"],  # Latin and Cyrillic
    ["\u00e9", "e"],
    ["200", "200,0", "2,00", "200 mg", "20", "-200", "2e3"],
    ["250.1", "250.11"],
    ["1", "01a", "I"],
    ["105", "10\u2075", "10\u2085", "10\u2464", "10\u248c", "10\u207b\u2075", "10-5"],
    ["11\u20442", "1\u00bd", "1"],
    ["22", "2\u00b2", "\u00b22"],
    ["1e99999999999", "1e99999999998", "-1e99999999999", "1e-99999999999"],
    ["1e" + "9" * 5000, "10e" + "9" * 5000, "1e-" + "9" * 5000],
    [
        "e5",
        "5e",
        "5e+",
        "5e+-3",
        "5e5e5",
        "5e5.0",
        "+",
        "-",
        ".",
        "1e",
        "1.2.3",
        "--5",
        "1e1234567890",
    ],
]


@pytest.mark.parametrize("texts", SAME)
def test_spellings_of_one_value_have_one_key(texts: list[str]) -> None:
    assert len(set(map(folded, texts))) == 1
    assert len(set(map(reading, texts))) == 1


@pytest.mark.parametrize("texts", APART)
def test_other_values_have_other_keys(texts: list[str]) -> None:
    assert len(set(map(folded, texts))) == len(texts)
    assert len(set(map(reading, texts))) == len(texts)


ODD = (
    "\u200b\u00ad\ufe0f\u034f\u0130\u0131\u00df\u00b2\u0662\u2212\u2019\u0345\u03c2\u1e9e\ufb01\x00"
)
TEXTS = st.text(
    st.one_of(
        st.sampled_from(
            "0123456789.+-eE abHIV" + ODD + "\u0301\u0323\u0307\u2003\u2800\uff12\u00bd"
        ),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=12,
)


@given(TEXTS)
@example("i\u0327\u0307")
@example("1e0000000009")
@example("1e99999999999999999999999999999999999999999")
@example("10\u00ad\u2075")
@example("\u2460\u00b2\u0661")
@example("\u00b4")
@example("\u0131\u0307\u00ad\u0f72")
@example("\u0345\u0300")
def test_the_judge_reads_what_the_run_folds(text: str) -> None:
    assert reading(text) == folded(text)
    assert folded(folded(text)) == folded(text)


@given(st.lists(TEXTS, max_size=8))
def test_values_do_not_depend_on_the_order_of_texts(texts: list[str]) -> None:
    found, turned = fold(texts), fold(texts[::-1])
    assert found.values == turned.values
    assert found.value_of == turned.value_of[::-1]
    assert list(found.values) == sorted(set(found.values))
    for text, value in zip(texts, found.value_of, strict=True):
        assert folded((*found.values, "")[value]) == folded(text)


def test_the_spelling_that_is_published_is_the_plainest() -> None:
    assert fold(["hiv", " HIV", "HIV", "\uff28\uff29\uff36"]).values == ("HIV",)
    assert fold(["2e2", "+200", "200.0", "200"]).values == ("200",)
    assert fold(["\uff12\uff10\uff10"]).values == ("200",)
    assert fold(["\uff28\uff29\uff36"]).values == ("\uff28\uff29\uff36",)


POWERS = ["10\u2075", "10\u00b3", "10\u2076"]


@pytest.mark.parametrize(
    "texts", [POWERS, ["\u2075", "\u00b3"], ["\u2460", "\u2461"], ["1\u1d495"]]
)
def test_what_is_raised_makes_no_number(texts: list[str]) -> None:
    column = code_column(pl.Series("load", texts), role="sensitive")
    assert (column.kind, column.values, column.remarks) == ("category", tuple(sorted(texts)), ())


def test_powers_are_published_as_they_are() -> None:
    cells = pl.Series("load", [*POWERS, "105", "103"])
    column = code_column(cells, role="sensitive")
    assert column.values == tuple(sorted(cells))
    assert column.kind == "category"
    assert not column.remarks


def test_powers_are_no_numbers_of_a_numeric_attribute() -> None:
    with pytest.raises(SourceError, match="not a number"):
        code_column(pl.Series("load", POWERS), role="sensitive", kind="numeric")


@given(st.lists(TEXTS, max_size=6), st.sampled_from(["category", None]))
def test_no_text_is_published_that_the_source_lacks_without_a_remark(
    texts: list[str], kind: Kind | None
) -> None:
    column = code_column(pl.Series("x", texts, dtype=pl.String), role="sensitive", kind=kind)
    if column.kind == "category":
        new = set(column.values) - set(texts)
        said = [each for each in column.remarks if "a text that the source does not have" in each]
        assert len(said) == bool(new)
        assert all(f"there are {len(new)} " in each for each in said if len(new) > 1)


@pytest.mark.parametrize("other", ["400", "none"])
def test_numbers_in_other_digits_are_said(other: str) -> None:
    cells = pl.Series("x", [other, "\uff13\uff10\uff10", "\u0662"])
    column = code_column(cells, role="sensitive")
    assert set(column.values) == {"300", "2", other}
    (told,) = column.remarks
    assert told.startswith("Column 'x': there are 2 numbers that no record has in ASCII digits")
    assert "(the first in record 2)" in told
    one = code_column(pl.Series("x", [other, "\uff13"]), role="sensitive")
    assert "there is 1 number that" in one.remarks[0]
    assert not code_column(pl.Series("x", [other, "3", "\uff13"]), role="sensitive").values[2:]


def test_a_protected_column_has_one_code_for_a_value() -> None:
    cells = pl.Series("ill", ["Flu", "HIV", "hiv", None, " ", "HIV ", "\u200b", "flu"])
    column = code_column(cells, role="sensitive")
    assert column.values == ("Flu", "HIV")
    assert column.codes.tolist() == [0, 1, 1, 2, 2, 1, 2, 0]
    assert column.missing == 3
    unseen, respelled = column.remarks
    assert unseen.startswith("Column 'ill': 2 records show nothing there but blanks")
    assert respelled.startswith("Column 'ill': 2 values are written in 5 ways")
    assert "(one value: records 1 and 8; another: records 2, 3 and 6)" in respelled
    assert "3 records have another in the source" in respelled
    assert not any(word in remark for remark in column.remarks for word in ("HIV", "hiv", "Flu"))


def test_other_columns_keep_their_spellings() -> None:
    cells = pl.Series("ward", ["A", "a", "A "])
    for role in ("quasi", "keep", "target"):
        assert code_column(cells, role=role).values == ("A", "A ", "a")
    assert code_column(cells, role="target", protected=True).values == ("A",)


def test_numbers_are_numbers_however_they_are_written() -> None:
    column = code_column(
        pl.Series("x", ["200", "\uff13\uff10\uff10", "2e2", " "]), role="sensitive"
    )
    assert (column.kind, column.values, column.missing) == ("numeric", ("200", "300"), 1)


def test_days_in_a_format_are_no_numbers() -> None:
    months = pl.Series("x", ["2011.10", "2011.1"])
    column = code_column(months, role="sensitive", date_format="%Y.%m")
    assert column.values == ("2011-01-01", "2011-10-01")


def test_the_order_of_a_policy_names_values_in_any_spelling() -> None:
    cells = pl.Series("x", ["HIGH", "low", "high "])
    column = code_column(cells, role="sensitive", order=["Low", "High", "Highest"])
    assert column.values == ("low", "HIGH")


def test_cells_are_written_as_others_write_them() -> None:
    cells = pl.Series("x", ["hiv", None, "Flu", "flu ", " "])
    assert spelled_as(cells, ["HIV"]).to_list() == ["HIV", None, "Flu", "Flu", None]
