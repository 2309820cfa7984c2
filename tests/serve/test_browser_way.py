"""In a real browser: the whole way from a dropped file to a verified download, and bad files."""

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Server, browsing, drop, need_browser, open_page, serving, to_step, ward

import incrowd
from incrowd.policy import Policy

need_browser()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("way")) as running:
        yield running


@pytest.fixture(scope="module")
def chrome(server: Server) -> Iterator[Any]:
    with browsing() as browser:
        yield browser


def test_a_dropped_file_becomes_a_verified_release(
    server: Server, chrome: Any, tmp_path: Path
) -> None:
    text = ward()
    with open_page(chrome, server) as page:
        drop(page, text)
        page.get_by_text("records are the only one with their age, sex and city").wait_for()

        # The live risk follows the roles.
        page.get_by_role("combobox", name="Role of city").click()
        page.get_by_role("option", name="Keep as it is").click()
        page.get_by_text("records are the only one with their age and sex").wait_for()
        page.get_by_role("combobox", name="Role of city").click()
        page.get_by_role("option", name="Quasi-identifier").click()
        page.get_by_text("with their age, sex and city").wait_for()

        # A hierarchy from a file that lacks two values, then one by dialog that has them all.
        page.get_by_role("button", name="Next: hierarchies").click()
        page.get_by_text("Covers all").wait_for()
        page.get_by_text("city", exact=True).click()
        page.get_by_role("button", name="Use a file for the hierarchy of city").click()
        page.locator(".q-dialog input[type=file]").set_input_files(
            {
                "name": "places.csv",
                "mimeType": "text/csv",
                "buffer": b"Berlin;North;*\nParis;North;*\nRome;South;*\n",
            }
        )
        page.get_by_text("2 of 5 values are missing from it").wait_for()
        page.get_by_role("button", name="Build a hierarchy of city").click()
        page.get_by_label("How values become coarser").click()
        page.get_by_role("option", name="Groups of values").click()
        page.get_by_label("Groups").fill("North: Berlin, Oslo\nSouth: Rome, Bern, Paris")
        page.get_by_role("button", name="Use it").click()
        page.get_by_text("Covers all 5 values").wait_for()

        # The sentence follows the parameters.
        page.get_by_role("button", name="Next: privacy").click()
        page.get_by_label("k", exact=True).fill("7")
        page.get_by_text("finds at least 7 records that fit").wait_for()
        page.get_by_role("button", name="Next: run").click()
        as_it_is = page.get_by_role("row").filter(has_text="diagnosis")
        as_it_is.get_by_text("no promise is about it").or_(
            as_it_is.get_by_text("a promise limits how sure anyone can be of it")
        ).wait_for()
        page.get_by_role("button", name="Start").click()
        page.get_by_text("Verified. All promises hold").wait_for()

        with page.expect_download() as waiting:
            page.get_by_role("link", name="Download the release").click()
        packed = Path(waiting.value.path()).read_bytes()
        with page.expect_download() as waiting:
            page.get_by_role("link", name="Download the policy").click()
        policy = Path(waiting.value.path()).read_text(encoding="utf-8")
        assert waiting.value.suggested_filename == "policy.yaml"

    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(tmp_path)
    verdict = incrowd.verify(tmp_path / "release")
    assert verdict.holds
    assert {"k": 7} in [each["parameters"] for each in _promises(tmp_path / "release")]

    # The policy file makes the same bytes without the page.
    (tmp_path / "ward.csv").write_text(text, encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(policy, encoding="utf-8")
    again = incrowd.anonymize(None, Policy.from_file(tmp_path / "policy.yaml"))
    again.save(tmp_path / "again")
    for name in ("data.csv", "manifest.json"):
        assert (tmp_path / "again" / name).read_bytes() == (
            tmp_path / "release" / name
        ).read_bytes()


def _promises(folder: Path) -> list[dict[str, Any]]:
    import json

    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    promises: list[dict[str, Any]] = manifest["promises"]
    return promises


def test_bad_files_are_told_in_words(server: Server, chrome: Any) -> None:
    bad = (
        ("ward.csv", b"PK\x03\x04 not a table", "looks like a zip archive"),
        ("ward.csv", b"a,b\n1,2\n3,4,5\n", "line 3: 3 cells, but the header has 2 columns"),
        ("ward.docx", b"some words", "its name ends with none of"),
    )
    with open_page(chrome, server) as page:
        to_step(page, "File")
        for name, content, words in bad:
            page.locator("input[type=file]").set_input_files(
                {"name": name, "mimeType": "text/csv", "buffer": content}
            )
            page.get_by_role("alert").filter(has_text=words).wait_for()
        # A reply that refuses a file is written to the console by the browser itself.
        page.complaints.told = [each for each in page.complaints.told if "422" not in each]


def test_a_person_says_that_a_file_has_no_header(server: Server, chrome: Any) -> None:
    records = ward(40).split("\n", 1)[1]
    with open_page(chrome, server) as page:
        to_step(page, "File")
        drop(page, records)
        page.get_by_role("alert").filter(has_text="looks like a record").wait_for()
        page.get_by_label("First line of a text file").click()
        page.get_by_role("option", name="A record: the file has no header").click()
        drop(page, records)
        page.get_by_text("column_2").first.wait_for()
        page.complaints.told = [each for each in page.complaints.told if "422" not in each]


def test_a_person_says_what_a_row_is(server: Server, chrome: Any) -> None:
    header, *lines = ward(40).splitlines()
    visits = [f"P{n % 8},{line.split(',', 1)[1]}" for n, line in enumerate(lines)]
    with open_page(chrome, server) as page:
        to_step(page, "File")
        drop(page, "\n".join([header.replace("name", "patient_id"), *visits]))
        told = page.get_by_role("status").filter(has_text="DECIDE: 'patient_id' repeats")
        told.wait_for()
        page.get_by_label("Who is protected").click()
        page.get_by_role("option", name="Each row is another patient").click()
        told.wait_for(state="detached")
        varies = "diagnosis varies within a patient"
        varying = page.get_by_role("checkbox", name=varies)
        assert not varying.count()
        page.get_by_label("Who is protected").click()
        page.get_by_role("option", name="Each value of patient_id is one patient").click()
        varying.wait_for()
        varying.click()
        page.get_by_role("checkbox", name=varies, checked=True).wait_for()


def test_a_privacy_that_cannot_be_reached_is_told_as_the_package_tells_it(
    server: Server, chrome: Any
) -> None:
    with open_page(chrome, server) as page:
        to_step(page, "File")
        drop(page, ward(40))
        page.get_by_text("records are the only one").wait_for()
        to_step(page, "Privacy")
        page.get_by_label("k", exact=True).fill("500")
        page.get_by_text("finds at least 500 records").wait_for()
        page.get_by_role("button", name="Next: run").click()
        page.get_by_role("button", name="Start").click()
        page.get_by_role("alert").filter(has_text="500").wait_for()
        page.get_by_role("button", name="Start").wait_for()


def test_illegal_parameters_keep_people_from_going_on(server: Server, chrome: Any) -> None:
    with open_page(chrome, server) as page:
        to_step(page, "File")
        drop(page, ward(40))
        page.get_by_text("records are the only one").wait_for()
        to_step(page, "Privacy")
        page.get_by_label("k", exact=True).fill("")
        page.get_by_role("alert").filter(has_text="'k' is missing").wait_for()
        assert page.get_by_role("button", name="Next: run").is_disabled()
        page.get_by_label("k", exact=True).fill("3")
        page.get_by_role("alert").wait_for(state="detached")
        assert page.get_by_role("button", name="Next: run").is_enabled()
