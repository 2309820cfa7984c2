"""A release that was touched after its making fails, and says which promise broke."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from handmade_release import (
    csv_text,
    described,
    in_order,
    make_release,
    public_pem,
    read_manifest,
    write_manifest,
    write_text,
)

from incrowd.errors import InputError
from incrowd.verify import Verdict, verify

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COLUMNS = ("age", "sex", "ill")
ROWS = in_order(
    [
        ("[30-60)", "F", "flu"),
        ("[30-60)", "F", "ulcer"),
        ("[30-60)", "F", "flu"),
        ("*", "{F|M}", "gout"),
        ("*", "{F|M}", "flu"),
    ]
)
K2 = {"model": "k-anonymity", "parameters": {"k": 2}}
L2 = {"model": "l-diversity", "parameters": {"l": 2, "kind": "distinct", "sensitive": "ill"}}
FILES = "files are the released ones"
MANIFEST = "manifest is whole"


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return make(tmp_path / "release")


def make(folder: Path, **options: Any) -> Path:
    options = {"promises": [K2, L2], **options}
    return make_release(folder, COLUMNS, ROWS, quasi=COLUMNS[:2], sensitive=COLUMNS[2:], **options)


def broken(verdict: Verdict) -> dict[str, str]:
    assert not verdict.holds
    assert verdict.as_dict()["holds"] is False
    return {finding.promise: finding.detail for finding in verdict.findings if not finding.holds}


def replace_data(folder: Path, data: bytes, **entry: Any) -> None:
    """Swap the data and make manifest and digests fit, as a forger would."""
    (folder / "data.csv").write_bytes(data)
    manifest = read_manifest(folder)
    manifest["files"]["data.csv"] |= {**described(folder / "data.csv"), **entry}
    write_manifest(folder, manifest)


def test_a_good_release_holds(release: Path) -> None:
    verdict = verify(release)
    assert verdict.holds
    assert [finding.promise for finding in verdict.findings] == [
        MANIFEST,
        FILES,
        "data can be read",
        "identifiers are not published",
        "columns are the promised ones",
        "records add up",
        "rows are in sorted order",
        "records fall into groups",
        "promises say something",
        "k-anonymity (k=2)",
        "l-diversity (l=2, kind=distinct, sensitive=ill)",
    ]
    assert verdict.groups == {"count": 2, "smallest": 2, "average": 2.5, "largest": 3}
    assert verdict.measured == ({"k": 2, "groups_failing": 0}, {"l": 2, "groups_failing": 0})
    assert json.loads(json.dumps(verdict.as_dict()))["folder"] == str(release)


def test_the_folder_may_be_given_as_text(release: Path) -> None:
    assert verify(str(release)).holds


def test_nothing_is_left_in_the_folder(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(release)
    assert verify(".").holds
    assert sorted(path.name for path in release.iterdir()) == ["data.csv", "manifest.json"]


def test_one_cell_changed(release: Path) -> None:
    data = (release / "data.csv").read_bytes()
    (release / "data.csv").write_bytes(data.replace(b"gout", b"gaut"))
    assert broken(verify(release)) == {FILES: "'data.csv' was changed after its release"}


def test_one_cell_changed_so_that_models_break(release: Path) -> None:
    data = (release / "data.csv").read_bytes()
    (release / "data.csv").write_bytes(data.replace(b"[30-60),F,ulcer", b"[30-61),F,ulcer"))
    found = broken(verify(release))
    assert found[FILES] == "'data.csv' was changed after its release"
    assert found["k-anonymity (k=2)"] == (
        "the smallest group has 1 record, promised at least 2 (1 of 3 groups fails)"
    )
    assert found["l-diversity (l=2, kind=distinct, sensitive=ill)"].startswith("the least diverse")


def test_one_row_removed(release: Path) -> None:
    (release / "data.csv").write_bytes(csv_text(COLUMNS, ROWS[1:]))
    found = broken(verify(release))
    assert "bytes instead of" in found[FILES]
    assert found["records add up"] == (
        "'data.csv' has 4 rows, not 5; 5 records should be published, found 4"
    )


def test_one_row_removed_with_digests_made_anew(release: Path) -> None:
    replace_data(release, csv_text(COLUMNS, ROWS[1:]), rows=4)
    found = broken(verify(release))
    assert found["records add up"] == "5 records should be published, found 4"
    assert MANIFEST not in found
    assert FILES not in found


def test_a_file_swapped_for_that_of_another_release(release: Path, tmp_path: Path) -> None:
    rows = [(f"[{age}-60)", "F", ill) for age in (20, 30) for ill in ("flu", "gout")]
    other = make_release(tmp_path / "other", COLUMNS, rows, quasi=COLUMNS[:2])
    assert verify(other).holds
    (release / "data.csv").write_bytes((other / "data.csv").read_bytes())
    assert {FILES, "records add up"} <= broken(verify(release)).keys()


def test_a_file_missing(release: Path) -> None:
    (release / "data.csv").unlink()
    found = broken(verify(release))
    assert found[FILES] == "'data.csv' is missing"
    assert found["data can be read"] == "'data.csv' is missing"
    assert found["k-anonymity (k=2)"] == "cannot judge this model: the data cannot be read"
    assert verify(release).measured == ({}, {})


@pytest.mark.parametrize("name", ["notes.txt", ".hidden", "data.parquet", "report.html"])
def test_a_file_added(release: Path, name: str) -> None:
    (release / name).write_text("who is who")
    found = broken(verify(release))
    assert found == {FILES: f"'{name}' is in the folder but not in the manifest"}


def test_a_folder_added(release: Path) -> None:
    (release / "more").mkdir()
    assert broken(verify(release)) == {FILES: "'more' is in the folder but not in the manifest"}


def list_file(folder: Path, name: str) -> Callable[[dict[str, Any]], None]:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("<p>report</p>")

    def change(manifest: dict[str, Any]) -> None:
        manifest["files"][name] = described(folder / name)

    return change


def test_a_listed_report_belongs_to_the_release(tmp_path: Path) -> None:
    made = make(tmp_path, change=list_file(tmp_path, "report.html"))
    assert verify(made).holds
    (made / "report.html").write_text("<p>changed</p>")
    assert broken(verify(made)) == {FILES: "'report.html' has 14 bytes instead of 13"}


def test_a_listed_file_that_cannot_be_judged(tmp_path: Path) -> None:
    made = make(tmp_path, change=list_file(tmp_path, "people.csv"))
    assert broken(verify(made)) == {FILES: "'people.csv' is a file that this version cannot judge"}


def test_two_files_of_records(tmp_path: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["files"]["data.parquet"] = manifest["files"]["data.csv"]

    made = make(tmp_path, change=change)
    (made / "data.parquet").write_bytes((made / "data.csv").read_bytes())
    found = broken(verify(made))
    assert "must list one of" in found[FILES]
    assert found["data can be read"] == "the manifest does not list one file of records"


@pytest.mark.parametrize("name", ["../data.csv", "sub/data.csv", "manifest.json", "..", "/x"])
def test_a_listed_name_that_leads_elsewhere(tmp_path: Path, name: str) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["files"][name] = {"sha256": "0" * 64, "bytes": 1}

    found = broken(verify(make(tmp_path / "release", change=change)))
    assert f"'{name}' is not the plain name of a file" in found[FILES]


@pytest.mark.parametrize("name", ["x" * 5000, "\x00", "", "."])
def test_a_listed_name_that_no_file_can_have(tmp_path: Path, name: str) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["files"][name] = {"sha256": "0" * 64, "bytes": 1}

    assert broken(verify(make(tmp_path, change=change))).keys() == {FILES}


def test_a_link_in_place_of_a_file(release: Path, tmp_path: Path) -> None:
    (release / "data.csv").rename(tmp_path / "elsewhere.csv")
    (release / "data.csv").symlink_to(tmp_path / "elsewhere.csv")
    found = broken(verify(release))
    assert found[FILES] == "'data.csv' is not a plain file"
    assert "data can be read" in found


def test_a_column_renamed(release: Path) -> None:
    replace_data(release, csv_text(("age", "sex", "illness"), ROWS))
    found = broken(verify(release))
    assert found["columns are the promised ones"] == (
        "'data.csv' has columns that nobody promised: 'illness'; 'data.csv' lacks promised"
        " columns: 'ill'; the columns of 'data.csv' are not those listed for the file"
    )
    reason = found["l-diversity (l=2, kind=distinct, sensitive=ill)"]
    assert reason == "cannot judge this model: no column 'ill' is published"
    assert "k-anonymity (k=2)" not in found


def test_columns_that_differ_in_case_only_are_two(tmp_path: Path) -> None:
    rows = [("x", "1", "flu"), ("x", "2", "flu"), ("x", "1", "flu"), ("x", "2", "flu")]
    made = make_release(tmp_path, ("age", "Age", "ill"), rows, quasi=("age",))
    assert verify(made).groups["count"] == 1
    made = make_release(tmp_path, ("age", "Age", "ill"), rows, quasi=("Age",))
    assert verify(made).groups["count"] == 2


def test_an_identifier_smuggled_in(release: Path) -> None:
    rows = [(*row, f"patient {number}") for number, row in enumerate(ROWS)]
    columns = (*COLUMNS, "patient id")
    replace_data(release, csv_text(columns, rows), columns=[*columns])
    found = broken(verify(release))
    assert found == {
        "identifiers are not published": (
            "identifiers are among the published columns: 'patient id'"
        ),
        "columns are the promised ones": (
            "'data.csv' has columns that nobody promised: 'patient id'"
        ),
    }


def test_an_identifier_marked_as_published(tmp_path: Path) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["attributes"][0]["published"] = True

    found = broken(verify(make(tmp_path, change=change)))
    assert {"identifiers are not published", "columns are the promised ones"} == found.keys()


@pytest.mark.parametrize("unit", ["row", "patient id"])
def test_the_unit_is_told_with_the_verdict(tmp_path: Path, unit: str) -> None:
    def change(manifest: dict[str, Any]) -> None:
        stated = {**manifest}
        manifest.clear()
        for key, value in stated.items():  # in its place among the keys
            manifest |= {"unit": unit, key: value} if key == "records" else {key: value}

    verdict = verify(make(tmp_path, change=change))
    assert (verdict.holds, verdict.unit, verdict.as_dict()["unit"]) == (True, unit, unit)
    assert verdict.counted.startswith("Records were counted")
    assert ("the files cannot show it" in verdict.counted) == (unit != "row")


@pytest.mark.parametrize("unit", ["patients", "age", "ill", "", None, 1, ["row"], {"row": 1}])
def test_a_unit_that_is_no_hidden_identifier(tmp_path: Path, unit: object) -> None:
    found = broken(verify(make(tmp_path, change=lambda manifest: manifest.update(unit=unit))))
    assert found == {
        "manifest is whole": "manifest.json: 'unit' must be 'row', or an identifier that is not "
        "published"
    }


def test_releases_of_earlier_versions_counted_rows(release: Path) -> None:
    assert verify(release).unit == "row"


def test_rows_out_of_order(release: Path) -> None:
    replace_data(release, csv_text(COLUMNS, [ROWS[1], ROWS[0], *ROWS[2:]]))
    assert broken(verify(release)) == {
        "rows are in sorted order": "1 row stands after a row that should follow"
    }


@pytest.mark.parametrize("again", [False, True])
def test_a_weakened_manifest(tmp_path: Path, again: bool) -> None:
    signer = Ed25519PrivateKey.generate()
    release = make(tmp_path, promises=[{**K2, "parameters": {"k": 3}}], signer=signer)
    assert broken(verify(release)).keys() == {"k-anonymity (k=3)"}
    manifest = read_manifest(release)
    manifest["promises"][0]["parameters"]["k"] = 2
    if again:
        write_manifest(release, manifest)
    else:
        write_text(release, manifest)
    found = broken(verify(release, key=public_pem(signer)))
    assert found.pop("signature").startswith("the signature does not fit the manifest")
    # A digest made anew hides the change from all but the signature.
    assert found.keys() == (set() if again else {MANIFEST})
    assert broken(verify(release)).keys() == {"signature", *found}


def test_a_weakened_manifest_without_signature_is_judged_by_what_it_says(tmp_path: Path) -> None:
    release = make(tmp_path, promises=[{**K2, "parameters": {"k": 3}}])
    manifest = read_manifest(release)
    manifest["promises"][0]["parameters"]["k"] = 2
    write_text(release, manifest)
    assert broken(verify(release)) == {
        MANIFEST: "manifest.json was changed after its release: its digest does not fit its content"
    }
    write_manifest(release, manifest)
    assert verify(release).holds


@pytest.mark.parametrize(
    ("counts", "limit", "problem"),
    [
        ({"source": 6}, 0.5, "5 of 6 source records are accounted for"),
        ({"source": 6, "suppressed": 1}, 0.1, "1 suppressed record, promised at most 0"),
        ({"source": 8, "suppressed": 3}, 0.25, "3 suppressed records, promised at most 2"),
        ({"source": 6, "published": 6}, 0.0, "6 records should be published, found 5"),
    ],
)
def test_records_that_do_not_add_up(
    tmp_path: Path, counts: dict[str, int], limit: float, problem: str
) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["records"] |= counts
        manifest["suppression_limit"] = limit

    found = broken(verify(make(tmp_path, change=change)))
    assert found == {"records add up": problem}


@pytest.mark.parametrize(
    ("counts", "limit"),
    [
        ({"source": 6, "suppressed": 1}, 1 / 6),
        ({"source": 7, "suppressed": 1, "missing_dropped": 1}, 0.15),
        ({"source": 100, "suppressed": 29, "missing_dropped": 66}, 0.29),
    ],
)
def test_suppression_up_to_its_limit(tmp_path: Path, counts: dict[str, int], limit: float) -> None:
    def change(manifest: dict[str, Any]) -> None:
        manifest["records"] |= counts
        manifest["suppression_limit"] = limit

    assert verify(make(tmp_path, change=change)).holds


def test_no_quasi_identifier(tmp_path: Path) -> None:
    made = make_release(tmp_path, COLUMNS, ROWS, quasi=())
    found = broken(verify(made))
    reason = "no quasi-identifier is published, so there are no groups"
    assert found["records fall into groups"] == reason
    assert found["k-anonymity (k=2)"] == f"cannot judge this model: {reason}"
    assert verify(made).groups == {}


def test_no_records(tmp_path: Path) -> None:
    made = make_release(tmp_path, COLUMNS, [], quasi=COLUMNS[:2])
    found = broken(verify(made))
    assert found["records fall into groups"] == "no record is published, so there are no groups"
    assert "k-anonymity (k=2)" in found


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"groups": {"count": 2, "smallest": 2, "average": 2.5, "largest": 3}}, None),
        ({"groups": {"count": 2, "smallest": 2, "average": 2.5 + 1e-12, "largest": 3}}, None),
        ({"groups": {"count": 2, "smallest": 2, "average": 2.51, "largest": 3}}, "of groups"),
        ({"groups": {"count": 2, "smallest": 2, "average": 2.5}}, "of groups"),
        ({"groups": {"count": 2, "smallest": "2", "average": 2.5, "largest": 3}}, "of groups"),
        ({"groups": {"count": 10**400, "smallest": 2, "average": 2.5, "largest": 3}}, "of groups"),
        ({"measured": [{"k": 2, "groups_failing": 0}, {"l": 2, "groups_failing": 0}]}, None),
        ({"measured": [{"k": 3, "groups_failing": 0}, {"l": 2, "groups_failing": 0}]}, "k-anon"),
        ({"measured": [{"k": None, "groups_failing": 0}, {"l": 2, "groups_failing": 0}]}, "k-an"),
        ({"measured": [{"k": 2, "groups_failing": False}, {"l": 2, "groups_failing": 0}]}, "k-a"),
        ({"measured": [{"k": 2, "groups_failing": 0}, {"l": 2}]}, "l-diversity"),
        ({"measured": [{"k": 2, "groups_failing": 0}]}, "one measurement for each promise"),
    ],
)
def test_stated_measurements_must_be_those_of_the_files(
    tmp_path: Path, change: dict[str, Any], problem: str | None
) -> None:
    made = make(tmp_path, change=lambda manifest: manifest.update(change))
    verdict = verify(made)
    assert verdict.findings[-1].promise == "measurements are the stated ones"
    if problem is None:
        assert verdict.holds
    else:
        assert problem in broken(verdict)["measurements are the stated ones"]


def test_a_verdict_can_be_stated_and_verifies_again(tmp_path: Path) -> None:
    recursive = {"l": 3, "kind": "recursive", "c": 1.5, "sensitive": "ill"}
    promises = [K2, {"model": "l-diversity", "parameters": recursive}]
    first = verify(make(tmp_path, promises=promises))
    manifest = read_manifest(tmp_path)
    stated = json.loads(json.dumps(first.as_dict()))
    manifest |= {"measured": stated["measured"], "groups": stated["groups"]}
    write_manifest(tmp_path, manifest)
    assert manifest["measured"][1]["c"] is None
    second = verify(tmp_path)
    assert second.findings[-1].holds
    assert second.measured == first.measured


@pytest.mark.parametrize("publish", ["swapping", "raw"])
def test_another_kind_of_release_is_not_judged(tmp_path: Path, publish: str) -> None:
    made = make(tmp_path, change=lambda manifest: manifest.update(publish=publish))
    found = broken(verify(made))
    assert found == {
        "release is of a kind this version judges": (
            "this version judges only releases published as generalized, anatomy, lossy-join"
        )
    }
    (made / "data.csv").write_text("changed")
    assert FILES in broken(verify(made))


def test_a_folder_without_a_release_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No folder"):
        verify(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"No manifest\.json"):
        verify(tmp_path)
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(InputError, match=r"No manifest\.json"):
        verify(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="No folder"):
        verify(tmp_path / "file")


def test_no_text_of_a_verdict_shows_a_cell(tmp_path: Path) -> None:
    rows = in_order([("SECRETAGE", "SECRETSEX", "SECRETILL"), ("SECRETAGE2", "", "SECRETILL2")])
    promises: list[dict[str, Any]] = [
        K2,
        {**L2, "parameters": {**L2["parameters"], "l": 5}},  # type: ignore[dict-item]
        {
            "model": "t-closeness",
            "parameters": {"t": 0.0, "distance": "ordered", "sensitive": "ill"},
            "order": ["SECRETILL"],
        },
        {
            "model": "alpha-k",
            "parameters": {"alpha": 0, "k": 9, "sensitive": "ill", "values": ["SECRETILL"]},
        },
    ]
    data = csv_text(COLUMNS, [*reversed(rows)])
    made = make_release(tmp_path, COLUMNS, rows, quasi=COLUMNS[:2], data=data, promises=promises)
    assert "SECRET" not in json.dumps(verify(made).as_dict())
    replace_data(made, data + b"SECRETRAGGED\n")
    verdict = verify(made)
    assert "data can be read" in broken(verdict)
    assert "SECRET" not in json.dumps(verdict.as_dict())
