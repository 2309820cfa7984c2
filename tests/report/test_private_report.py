"""The private report: the source beside the release, well-formed, and never inside a release."""

from __future__ import annotations

import re
import stat
from pathlib import Path

import pytest
from report_kinds import DUCKDB, K3, KINDS, Page, patients, policy, private, saved, without_style

import incrowd
from incrowd.engines import collapse
from incrowd.errors import OutputError
from incrowd.report.page import PRIVATE_MARK

SOME = ("mondrian", "suppressed", "categories", "research value", "anatomy", "lossy join")


@pytest.mark.parametrize("kind", SOME)
def test_private_reports_are_well_formed_and_say_what_they_are(kind: str) -> None:
    rows, wanted = KINDS[kind]
    text = private(patients(min(rows, 120)), wanted)
    page = Page(text)
    assert PRIVATE_MARK in text
    assert page.text.count("not for publication") == 2
    assert "On the source" in page.text
    assert "None" not in without_style(text).replace("None of ", "")
    assert "nan" not in page.text.split()
    assert not re.search(r"https?:|//|url\(|@import|<script", text)


@pytest.mark.parametrize("kind", ["suppressed", "anatomy, suppressed"])
def test_rows_that_stay_in_an_engine_give_the_same_private_report(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, wanted = KINDS[kind]
    frame = patients(min(rows, 200))
    held = private(frame, wanted)
    monkeypatch.setattr(collapse, "BYTES_A_CODE", 10**12)
    assert private(frame, {**wanted, **DUCKDB}) == held


def test_the_release_is_the_same_with_and_without_a_private_report(tmp_path: Path) -> None:
    path = tmp_path / "private.html"
    files = saved(patients(60), policy(K3), private_report=path)
    assert files == saved(patients(60), policy(K3))
    assert PRIVATE_MARK.encode() not in files["report.html"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_private_report_does_not_go_into_a_release(tmp_path: Path) -> None:
    release = incrowd.anonymize(patients(60), policy(K3))
    first = tmp_path / "first"
    for place in (first / "private.html", first / "report.html", first / "deep/private.html"):
        with pytest.raises(OutputError, match="inside a release"):
            release.save(first, private_report=place)
        assert not first.exists()
    release.save(first)
    kept = {path.name: path.read_bytes() for path in first.iterdir()}
    with pytest.raises(OutputError, match="inside a release"):
        release.save(tmp_path / "second", private_report=first / "private.html")
    assert {path.name: path.read_bytes() for path in first.iterdir()} == kept
    assert not (tmp_path / "second").exists()


def test_only_a_private_report_is_replaced(tmp_path: Path) -> None:
    release = incrowd.anonymize(patients(60), policy(K3))
    mine = tmp_path / "mine.html"
    mine.write_text("a page of my own", encoding="utf-8")
    for place, told in (
        (mine, "not a private report"),
        (tmp_path, "not a private report"),
        (tmp_path / "none/private.html", "does not exist"),
    ):
        with pytest.raises(OutputError, match=told):
            release.save(tmp_path / "release", private_report=place)
        assert not (tmp_path / "release").exists()
    assert mine.read_text(encoding="utf-8") == "a page of my own"
    for replace in (False, True):
        release.save(
            tmp_path / "release", private_report=tmp_path / "private.html", replace=replace
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "mine.html", "private.html", "release",
    ]  # fmt: skip


def test_a_release_that_is_not_written_has_no_private_report(tmp_path: Path) -> None:
    def refuse(_manifest: dict[str, object]) -> None:
        raise OutputError("no")

    release = incrowd.anonymize(patients(60), policy(K3))
    with pytest.raises(OutputError):
        release.save(tmp_path / "release", private_report=tmp_path / "private.html", confirm=refuse)
    assert not list(tmp_path.iterdir())


def test_a_private_report_that_cannot_be_written_leaves_the_release_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = incrowd.anonymize(patients(60), policy(K3))
    private = tmp_path / "private.html"

    def full(self: Path, target: Path) -> Path:
        if target == private:
            raise OSError(28, "No space left on device")
        return replace(self, target)

    replace = Path.replace
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OutputError, match=r"The release is written.*No space left"):
        release.save(tmp_path / "release", private_report=private)
    assert [path.name for path in tmp_path.iterdir()] == ["release"]
