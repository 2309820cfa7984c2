"""Dates on an identified list are understood however they are written, or refused."""

import polars as pl
import pytest

import incrowd
from incrowd.attacks.known_values import iso_dates
from incrowd.errors import InputError

BORN = ["1950-01-31", "1950-02-01", "1961-07-14", "1961-08-02"]


def release() -> incrowd.Release:
    policy = {
        "attributes": {"born": {"role": "quasi", "type": "date"}},
        "privacy": [{"k-anonymity": {"k": 2}}],
    }
    return incrowd.anonymize(pl.DataFrame({"born": BORN}), policy)


@pytest.mark.parametrize("written", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y"])
def test_every_writing_matches_the_same_records(written: str) -> None:
    days = pl.Series("born", BORN).str.to_date("%Y-%m-%d").dt.strftime(written)
    found = incrowd.link(release(), pl.DataFrame({"born": days}))
    assert found.candidates.tolist() == [2, 2, 2, 2]
    assert found.unreadable == ()


def test_missing_dates_stay_missing() -> None:
    assert iso_dates(pl.Series("born", ["31.01.1950", None])).to_list() == ["1950-01-31", None]


@pytest.mark.parametrize("cells", [["in spring"], ["01.02.1950", "03.04.1950"]])
def test_dates_that_cannot_be_read_for_sure_are_refused(cells: list[str]) -> None:
    with pytest.raises(InputError, match="YYYY-MM-DD") as refused:
        incrowd.link(release(), pl.DataFrame({"born": cells}))
    assert cells[0] not in str(refused.value)
