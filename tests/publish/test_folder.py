"""The output folder is either the old release or the complete new one, whatever happens."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import polars as pl
import pytest

import incrowd
from incrowd.errors import OutputError, VerificationError
from incrowd.publish import folder as folders
from incrowd.publish.destination import destination
from incrowd.publish.folder import staged

FRAME = pl.DataFrame(
    {"age": [30, 31, 50, 52, 33, 58], "disease": ["Flu", "HIV", "Flu", "Flu", "HIV", "Ulcer"]}
)


def policy(k: int) -> dict[str, object]:
    return {
        "attributes": {"age": "quasi", "disease": "sensitive"},
        "privacy": [{"k-anonymity": {"k": k}}],
    }


def promised_k(folder: Path) -> int:
    manifest = incrowd.open_release(folder).manifest
    return int(manifest["promises"][0]["parameters"]["k"])


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def test_a_release_replaces_an_older_one(tmp_path: Path) -> None:
    incrowd.anonymize(FRAME, policy(2)).save(tmp_path / "release")
    incrowd.anonymize(FRAME, policy(3)).save(tmp_path / "release", replace=True)
    assert promised_k(tmp_path / "release") == 3
    assert incrowd.verify(tmp_path / "release").holds
    assert leftovers(tmp_path) == []


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "release").mkdir()
    incrowd.anonymize(FRAME, policy(2)).save(tmp_path / "release")
    assert incrowd.verify(tmp_path / "release").holds


def test_an_error_leaves_the_old_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    incrowd.anonymize(FRAME, policy(2)).save(tmp_path / "release")
    release = incrowd.anonymize(FRAME, policy(3))
    monkeypatch.setattr(folders, "_take_place", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        release.save(tmp_path / "release", replace=True)
    assert promised_k(tmp_path / "release") == 2
    assert leftovers(tmp_path) == []


def test_what_does_not_verify_is_not_written(tmp_path: Path) -> None:
    release = incrowd.anonymize(FRAME, policy(2))
    release.manifest["promises"] = [{"model": "k-anonymity", "parameters": {"k": 4}}]
    with pytest.raises(VerificationError, match="k-anonymity"):
        release.save(tmp_path / "release")
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
import polars as pl
import incrowd
from incrowd.publish import folder, manifest, release

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

moment, target = sys.argv[1:]
frame = pl.DataFrame({"age": [30, 31, 50, 52, 33, 58], "disease": ["a", "b", "a", "a", "b", "c"]})
made = incrowd.anonymize(frame, {
    "attributes": {"age": "quasi", "disease": "sensitive"},
    "privacy": [{"k-anonymity": {"k": 3}}],
})
real_take = folder._take_place
if moment == "before the files":
    made._write_tables = die
elif moment == "between the files and the manifest":
    manifest.describe_file = die
elif moment == "before the exchange":
    folder._take_place = die
elif moment == "after the exchange":
    def take(*arguments):
        real_take(*arguments)
        die()
    folder._take_place = take
made.save(target, replace=True)
"""


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("before the files", 2),
        ("between the files and the manifest", 2),
        ("before the exchange", 2),
        ("after the exchange", 3),
    ],
)
def test_a_killed_process_leaves_the_old_or_the_new(
    tmp_path: Path, moment: str, expected: int
) -> None:
    target = tmp_path / "release"
    incrowd.anonymize(FRAME, policy(2)).save(target)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), moment, str(target)],
        capture_output=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert promised_k(target) == expected
    assert incrowd.verify(target).holds
    assert len(leftovers(tmp_path)) == 1
    incrowd.anonymize(FRAME, policy(2)).save(target, replace=True)
    assert leftovers(tmp_path) == []


def test_the_stage_is_private(tmp_path: Path) -> None:
    with staged(destination(tmp_path / "release")) as stage:
        assert stage.stat().st_mode & 0o077 == 0
        (stage / "manifest.json").write_text("{}")
    assert (tmp_path / "release").stat().st_mode & 0o700 == 0o700


def test_unsafe_outputs_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "data.csv"
    source.write_text("age\n1\n")
    with pytest.raises(OutputError, match="source itself"):
        destination(source, source)
    with pytest.raises(OutputError, match="is a file"):
        destination(source, None)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.doc").write_text("")
    with pytest.raises(OutputError, match="not a release"):
        destination(other, None)
    with pytest.raises(OutputError, match="does not exist"):
        destination(tmp_path / "no" / "release", None)
    incrowd.anonymize(FRAME, policy(2)).save(tmp_path / "release")
    inside = tmp_path / "release" / "data.csv"
    with pytest.raises(OutputError, match="inside the output"):
        destination(tmp_path / "release", inside)


def test_a_folder_without_permission_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # chmod would not keep root out
    with pytest.raises(OutputError, match="permission"):
        destination(tmp_path / "release", None)
