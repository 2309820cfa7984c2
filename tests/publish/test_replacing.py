"""A release is replaced only when somebody said so, and then what follows from both is told."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import incrowd
from incrowd.errors import OutputError
from incrowd.publish import destination as destinations
from incrowd.publish import folder as folders
from incrowd.publish.destination import RELEASE, Destination, destination, seen
from incrowd.publish.folder import staged
from incrowd.publish.ownership import problem_of

ILLNESSES = ["flu", "gout", "ulcer", None]
PATIENTS = pl.DataFrame(
    {
        "age": [20 + (7 * number) % 60 for number in range(67)],
        "sex": ["fm"[number % 2] for number in range(67)],
        "ill": [ILLNESSES[number % 4] for number in range(60)] + ["hiv"] * 5 + ["lupus"] * 2,
    }
)
MARCH, APRIL = PATIENTS.head(60), PATIENTS


def policy(k: int = 4, **changes: Any) -> dict[str, Any]:
    return {
        "attributes": {"age": "quasi", "sex": "quasi", "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": k}}],
        **changes,
    }


def release(frame: pl.DataFrame = MARCH, **changes: Any) -> Any:
    return incrowd.anonymize(frame, policy(**changes))


def state(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def difference(first: pl.DataFrame, second: pl.DataFrame) -> Counter[Any]:
    """The rows that one table has more of than another."""
    return Counter(first.rows()) - Counter(second.rows())


def test_a_month_later_the_newcomers_follow_so_it_is_refused_and_told(tmp_path: Path) -> None:
    place = tmp_path / "release"
    release(MARCH).save(place)
    kept, before = incrowd.open_release(place).data, state(place)
    later = release(APRIL)
    # What somebody learns who kept the release of March, if that of April takes its place.
    came = difference(later.data.select("ill"), kept.select("ill"))
    assert came == Counter({("hiv",): 5, ("lupus",): 2})
    with pytest.raises(OutputError, match="of 60 records with the same columns") as refused:
        later.save(place)
    assert "follow from the difference" in str(refused.value)
    assert "replace=True" in str(refused.value)
    assert state(place) == before
    later.save(place, replace=True)
    told = later.replaced
    assert (told.old_records, told.new_records) == (60, 67)
    assert told.values == {"ill": (0, 7)}
    assert told.gone == difference(kept, later.data).total()
    assert told.come == difference(later.data, kept).total()
    assert "7 values of 'ill' came and 0 went" in told.sentence()
    assert incrowd.verify(place).holds


def test_with_other_columns_both_can_be_joined(tmp_path: Path) -> None:
    place = tmp_path / "release"
    release().save(place)
    narrow = incrowd.anonymize(
        MARCH.with_columns(town=pl.lit("x")),
        policy(attributes={"age": "quasi", "town": "quasi", "ill": "sensitive"}, other="drop"),
    )
    with pytest.raises(OutputError, match=r"join both on what they share \('age' and 'ill'\)"):
        narrow.save(place)
    narrow.save(place, replace=True)
    assert narrow.replaced is not None
    assert "The old one alone has 'sex'; the new one alone has 'town'" in narrow.replaced.sentence()
    assert narrow.replaced.gone is None


def test_the_same_again_tells_nothing_whatever_its_files(tmp_path: Path) -> None:
    place = tmp_path / "release"
    frame = MARCH.with_columns(ill=pl.col("ill").replace("flu", "=1+1"))
    release(frame).save(place)
    for changes in ({"format": "parquet"}, {"spreadsheet": "escape"}, {}):
        again = release(frame, **changes)
        again.save(place, replace=True)
        assert (again.replaced.gone, again.replaced.come) == (0, 0)
        assert again.replaced.same
        assert "nothing follows" in again.replaced.sentence()


@pytest.mark.parametrize("publish", ["anatomy", "lossy-join"])
def test_groups_that_are_dealt_anew_are_not_the_same(tmp_path: Path, publish: str) -> None:
    place = tmp_path / "release"
    changes: dict[str, Any] = {"privacy": [{"l-diversity": {"l": 2}}], "publish": publish}
    if publish == "anatomy":
        changes["method"] = "anatomize"
    release(MARCH, **changes).save(place)
    more = release(APRIL, **changes)
    more.save(place, replace=True)
    assert more.replaced.values == {"ill": (0, 7)}
    assert not more.replaced.same
    again = release(APRIL, **changes)
    again.save(place, replace=True)
    if publish == "anatomy":  # whose groups are drawn at random
        assert not again.replaced.same
        assert "dealt to other groups" in again.replaced.sentence()
    assert (again.replaced.gone, again.replaced.come) == (0, 0)
    whole = release(APRIL)
    whole.save(place, replace=True)
    assert "published in another way" in whole.replaced.sentence()


def test_a_line_longer_than_usual_is_read(tmp_path: Path) -> None:
    frame = MARCH.with_columns(ill=pl.col("ill").replace("flu", "x" * 600_000))
    place = tmp_path / "release"
    release(frame).save(place, report=False)
    later = release(frame.vstack(frame.head(1)))
    later.save(place, replace=True, report=False)
    assert later.replaced.values == {"ill": (0, 1)}


def test_what_differs_is_what_a_plain_count_finds(tmp_path: Path) -> None:
    draw = random.Random(5)
    for number in range(4):
        tables = [
            APRIL.sample(40, seed=draw.randrange(99)).with_columns(ward=pl.lit("w")) for _ in "ab"
        ]
        roles = {"age": "quasi", "sex": "quasi", "ill": "sensitive", "ward": "keep"}
        place, written = tmp_path / str(number), "csv" if number % 2 else "parquet"
        old, new = (
            incrowd.anonymize(frame, policy(attributes=roles, format=written)) for frame in tables
        )
        old.save(place, report=False)
        new.save(place, report=False, replace=True)
        assert new.replaced is not None
        assert new.replaced.gone == difference(old.data, new.data).total()
        assert new.replaced.come == difference(new.data, old.data).total()
        for name in ("ill", "ward"):
            went = difference(old.data.select(name), new.data.select(name)).total()
            came = difference(new.data.select(name), old.data.select(name)).total()
            assert new.replaced.values[name] == (went, came)


def _moved_behind_a_link(table: Path) -> None:
    moved = table.rename(table.parent.with_name("moved"))
    table.symlink_to(moved)


STRANGERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a file": (lambda place: (place / "notes.txt").write_text("mine"), "holds 'notes.txt'"),
    "a folder": (lambda place: (place / "more").mkdir(), "holds 'more'"),
    "a link": (lambda place: (place / "link").symlink_to("/tmp"), "holds 'link'"),
    "an edited table": (
        lambda place: (place / "data.csv").write_text("age,sex,ill\n1,f,flu\n"),
        "'data.csv', changed",
    ),
    "a table behind a link": (
        lambda place: _moved_behind_a_link(place / "data.csv"),
        "'data.csv', changed",
    ),
    "a lost table": (lambda place: (place / "data.csv").unlink(), "lacks 'data.csv'"),
    "an edited manifest": (
        lambda place: (place / "manifest.json").write_text(
            (place / "manifest.json").read_text().replace('"source": 60', '"source": 61')
        ),
        "manifest that was changed",
    ),
    "no manifest": (lambda place: (place / "manifest.json").unlink(), "is not a release"),
}


@pytest.mark.parametrize("stranger", STRANGERS)
def test_nothing_but_a_release_of_ours_is_replaced(tmp_path: Path, stranger: str) -> None:
    place = tmp_path / "release"
    release().save(place)
    assert problem_of(place) is None
    plant, told = STRANGERS[stranger]
    plant(place)
    before = state(place)
    with pytest.raises(OutputError, match=told):
        release(APRIL).save(place, replace=True)
    assert state(place) == before


def test_a_link_to_a_release_is_that_release(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    release().save(real)
    link.symlink_to("real")
    (tmp_path / "here").symlink_to(".")
    before = state(real)
    for place in (link, tmp_path / "here" / "real", tmp_path / "here" / "link"):
        with pytest.raises(OutputError, match="real' holds a release already"):
            release(APRIL).save(place)
    assert state(real) == before
    release(APRIL).save(link, replace=True)
    assert link.is_symlink()
    assert incrowd.open_release(real).data.height == APRIL.height


def test_a_link_that_leads_nowhere_or_to_itself(tmp_path: Path) -> None:
    link, loop, far = tmp_path / "link", tmp_path / "loop", tmp_path / "far"
    link.symlink_to("new")
    loop.symlink_to("loop")
    far.symlink_to("no/folder")
    release().save(link)
    assert link.is_symlink()
    assert incrowd.verify(tmp_path / "new").holds
    with pytest.raises(OutputError, match="leads to itself"):
        release().save(loop)
    with pytest.raises(OutputError, match="does not exist"):
        release().save(far)


@pytest.mark.parametrize("replace", [False, True])
def test_of_two_at_once_one_is_refused_and_none_is_mixed(tmp_path: Path, replace: bool) -> None:
    place = tmp_path / "release"
    if replace:
        release(k=2).save(place)
    ready = threading.Barrier(2)

    def save(frame: pl.DataFrame) -> int | OutputError:
        made = release(frame)
        try:
            made.save(place, replace=replace, confirm=lambda _: ready.wait(600) and None)
        except OutputError as error:
            return error
        return int(made.data.height)

    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(save, (MARCH, APRIL)))
    (refused,) = [each for each in ended if isinstance(each, OutputError)]
    (height,) = [each for each in ended if isinstance(each, int)]
    assert "while this ran" in str(refused)
    assert incrowd.verify(place).holds
    assert incrowd.open_release(place).data.height == height
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_an_exchange_for_another_release_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run ends between the last look at the place and the exchange."""
    place, usual = tmp_path / "release", folders._exchange
    release(k=2).save(place)
    other = release(APRIL)
    asked = []

    def exchange(first: Path, second: Path) -> bool:
        asked.append(second)
        if second == place and asked.count(place) == 1:
            monkeypatch.setattr(folders, "_exchange", usual)
            other.save(place, replace=True)
            monkeypatch.setattr(folders, "_exchange", exchange)
        return usual(first, second)

    monkeypatch.setattr(folders, "_exchange", exchange)
    with pytest.raises(OutputError, match="was changed while this ran"):
        release(MARCH).save(place, replace=True)
    assert incrowd.open_release(place).data.height == APRIL.height
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_replace_is_for_what_was_there_when_it_was_said(tmp_path: Path) -> None:
    place = destination(tmp_path / "release", replace=True)
    release(APRIL).save(tmp_path / "release")
    with pytest.raises(OutputError, match="was made while this ran"):
        release().save(place)
    assert incrowd.open_release(tmp_path / "release").data.height == APRIL.height


def test_a_file_system_that_cannot_exchange_is_told_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release().save(tmp_path / "release")
    monkeypatch.setattr(folders, "_exchange", lambda *_: False)
    with pytest.raises(OutputError, match="cannot replace the folder"):
        destinations.destination(tmp_path / "release", replace=True)
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


def test_a_private_report_is_not_replaced_either(tmp_path: Path) -> None:
    private = tmp_path / "private.html"
    release().save(tmp_path / "march", private_report=private)
    before = private.read_bytes()
    with pytest.raises(OutputError, match="is a private report already"):
        release(APRIL).save(tmp_path / "april", private_report=private)
    assert private.read_bytes() == before
    assert not (tmp_path / "april").exists()
    release(APRIL).save(tmp_path / "april", private_report=private, replace=True)
    assert private.read_bytes() != before


@pytest.mark.parametrize(
    ("pattern", "refused"),
    [
        ("data/**/*.csv", True),
        ("data/*/*.csv", True),
        ("data/*/data.csv/*.csv", True),
        ("data/*.csv", False),
        ("data/visits_*/*.csv", False),
        ("data/**/patients.csv", False),
    ],
)
def test_no_release_goes_where_the_pattern_of_the_source_would_read_it(
    pattern: str, refused: bool, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    output = tmp_path / "data" / "release"
    if refused:
        with pytest.raises(OutputError, match="the next run would read them"):
            destination(output, tmp_path / pattern)
    else:
        assert destination(output, tmp_path / pattern).folder == output


def test_a_mount_point_is_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "is_mount", lambda path: path == tmp_path)
    with pytest.raises(OutputError, match="a mount point"):
        destination(tmp_path)


def test_who_could_not_read_the_old_release_cannot_read_the_new_one(tmp_path: Path) -> None:
    output = tmp_path / "release"
    for text in ("old", "new"):
        if output.exists():
            output.chmod(0o700)
            place = Destination(output, RELEASE, seen(output))
        else:
            place = Destination(output, RELEASE)
        with staged(place) as stage:
            (stage / "data.csv").write_text(text, encoding="utf-8")
    assert (output / "data.csv").read_text(encoding="utf-8") == "new"
    assert output.stat().st_mode & 0o777 == 0o700


def test_numbers_of_patients_are_no_difference(tmp_path: Path) -> None:
    """They are drawn anew, and what is shown of patients and their rows is compared."""
    visits = pl.DataFrame(
        [(f"p{n}", 30 + n % 2, ill) for n in range(20) for ill in ("flu", "hiv")[: 1 + n % 2]],
        ["id", "age", "ill"],
        orient="row",
    )
    asked = {
        "unit": "id",
        "attributes": {
            "id": "identifier",
            "age": "quasi",
            "ill": {"role": "sensitive", "level": "event"},
        },
        "privacy": [{"k-anonymity": {"k": 2}}],
    }
    place = tmp_path / "release"
    incrowd.anonymize(visits, asked).save(place)
    again = incrowd.anonymize(visits, asked)
    with pytest.raises(OutputError, match="of 20 patients with the same columns"):
        again.save(place)
    again.save(place, replace=True)
    assert again.replaced is not None
    assert (again.replaced.gone, again.replaced.come) == (0, 0)
    assert "the same rows, under other numbers of patients" in again.replaced.sentence()
    assert again.replaced.as_dict()["patients"] == {"old": 20, "new": 20}
    later = incrowd.anonymize(visits.filter(pl.col("id") != "p1"), asked)
    later.save(place, replace=True)
    assert later.replaced is not None
    assert (later.replaced.gone, later.replaced.come) == (2, 0)
    assert "20 patients, the new one 19, with the same columns: 2 rows of the old" in (
        later.replaced.sentence()
    )
