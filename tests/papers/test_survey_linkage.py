"""Tables II, III and IV of Hussein, Darwish and Hefny: linking patients with a voter list."""

from __future__ import annotations

import polars as pl

from incrowd.attacks import link, risk

MEDICAL = pl.DataFrame(
    {
        "Zip code": ["423065", "422036", "423245", "422035", "423012", "423432"],
        "AGE": ["29", "32", "38", "37", "47", "53"],
        "SEX": ["M", "F", "M", "F", "M", "F"],
        "DIAGNOSIS": ["Heart Disease", "Flu", "Cancer", "HIV", "Headache", "Viral"],
    }
)
VOTERS = pl.DataFrame(
    {
        "NAME": ["Mohamed", "Ahmed", "Ali", "Rawan", "Omar", "Iman"],
        "Zipcode": ["423234", "466987", "423223", "424435", "423245", "423446"],
        "AGE": ["49", "35", "28", "41", "38", "33"],
        "SEX": ["M", "M", "M", "F", "M", "F"],
    }
)
ANONYMOUS = pl.DataFrame(
    {
        "Zipcode": ["423***", "423***", "422***", "422***", "423***", "423***"],
        "AGE": [">25", ">25", "3*", "3*", ">40", ">40"],
        "SEX": ["M", "M", "F", "F", "*", "*"],
        "DIAGNOSIS": ["Heart Disease", "Cancer", "Flu", "HIV", "Headache", "Viral"],
    }
)


def test_tables_ii_and_iii_give_exactly_omar_with_cancer() -> None:
    found = link(
        MEDICAL,
        VOTERS,
        on={"Zip code": "Zipcode", "AGE": "AGE", "SEX": "SEX"},
        sensitive=["DIAGNOSIS"],
    )
    assert (found.people, found.matched, found.matched_one) == (6, 1, 1)
    person = int(found.candidates.argmax())
    assert VOTERS["NAME"][person] == "Omar"
    assert MEDICAL["DIAGNOSIS"][int(found.only_record[person])] == "Cancer"
    assert found.records_singled_out == 1
    assert found.disclosed[0].people == 1
    assert found.one_sentence() == "Of 6 people on the list, 1 is matched to exactly one record."


def test_table_iv_gives_no_single_record() -> None:
    found = link(ANONYMOUS, VOTERS, k=2, sensitive=["DIAGNOSIS"])
    assert dict(found.on) == {"Zipcode": "Zipcode", "AGE": "AGE", "SEX": "SEX"}
    # Mohamed may be record 1, 2, 5 or 6; Ali and Omar 1 or 2; the others none.
    assert found.candidates.tolist() == [4, 0, 2, 0, 2, 0]
    assert (found.matched, found.matched_one, found.matched_below_k) == (3, 0, 0)
    assert (found.records_singled_out, found.disclosed[0].people) == (0, 0)
    assert found.unreadable == ()
    assert found.one_sentence() == "Of 6 people on the list, none is matched to exactly one record."


def test_every_record_of_table_ii_is_unique_and_none_of_table_iv() -> None:
    assert risk(MEDICAL, quasi=["Zip code", "AGE", "SEX"]).uniques == 6
    after = risk(ANONYMOUS, quasi=["Zipcode", "AGE", "SEX"])
    assert (after.uniques, after.groups.smallest, after.prosecutor.highest) == (0, 2, 0.5)
