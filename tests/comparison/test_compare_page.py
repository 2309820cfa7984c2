"""The folder of a comparison: its page, its policy files, and that it appears at once or not."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl
import pytest

import incrowd
from incrowd.comparison.folder import folder_name
from incrowd.errors import EngineError, OutputError, PolicyError
from incrowd.pipeline import anonymize
from incrowd.policy import Policy
from incrowd.policy.reach import source_of

RECORDS = "id,age,sex,ill\n" + "".join(
    f"{n},{20 + n * 7 % 31},{'MF'[n % 2]},{('Flu', 'HIV', 'Ulcer', 'Gout')[n * n % 7 % 4]}\n"
    for n in range(90)
)
POLICY = """
source: ../data.csv
attributes: {id: identifier, age: {role: quasi, type: numeric}, sex: quasi, ill: sensitive}
privacy: [{k-anonymity: {k: 3}}]
"""
NO_SENSITIVE: dict[str, Any] = {
    "attributes": {"age": "quasi", "sex": "quasi"},
    "other": "drop",
    "privacy": [{"k-anonymity": {"k": 3}}],
}
STRANGE = "a <b> & 'c'"


class Page(HTMLParser):
    """What a page links to, loads, and says."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.words: list[str] = []
        self.described: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "href":
                self.links.append(value or "")
            if name in ("src", "srcset", "data", "action") or name.startswith("on"):
                self.loads.append(f"{tag} {name}")
            if tag == "svg" and name == "aria-label":
                self.described.append(value or "")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    (folder / "policies").mkdir()
    (folder / "data.csv").write_text(RECORDS, encoding="utf-8")
    for name, more in {
        STRANGE: "",
        "apart": "publish: anatomy\n",
        "far": "",
    }.items():
        text = (
            POLICY.replace("k-anonymity: {k: 3", "l-diversity: {l: 9") if name == "far" else POLICY
        )
        (folder / "policies" / f"{name}.yaml").write_text(text + more, encoding="utf-8")
    return folder


def policies(home: Path) -> list[Path]:
    return [home / "policies" / f"{name}.yaml" for name in (STRANGE, "apart", "far")]


@pytest.fixture(scope="module")
def kept(home: Path) -> Path:
    incrowd.compare(policies(home), queries=40, output=home / "kept")
    return home / "kept"


@pytest.fixture(scope="module")
def page(kept: Path) -> Page:
    return Page((kept / "index.html").read_text(encoding="utf-8"))


def test_every_link_leads_to_a_file_and_nothing_is_loaded(kept: Path, page: Page) -> None:
    text = (kept / "index.html").read_text(encoding="utf-8")
    assert "http:" not in text
    assert "https:" not in text
    assert page.loads == []
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(page.tags)
    assert "default-src 'none'" in text
    outside = [link for link in page.links if not link.startswith("#")]
    assert {unquote(link).partition("/")[2] or "policy" for link in outside} == {
        "report.html", "manifest.json", "policy",
    }  # fmt: skip
    assert all((kept / unquote(link)).is_file() for link in outside)
    inside = [link[1:] for link in page.links if link.startswith("#")]
    assert inside
    assert all(f'id="{name}"' in text for name in inside)


def test_names_are_shown_as_they_are_and_never_as_markup(kept: Path, page: Page) -> None:
    text = (kept / "index.html").read_text(encoding="utf-8")
    assert STRANGE in "".join(page.words)
    assert "<b> &" not in text
    assert all(STRANGE in words for words in page.described)


def test_every_point_has_a_shape_a_label_and_a_link_to_its_report(page: Page) -> None:
    # Three pictures in two widths, and a link in the table.
    for number, name in enumerate((STRANGE, "apart"), start=1):
        target = f"{folder_name(number, name)}/report.html"
        assert [unquote(link) for link in page.links].count(target) == 7
    assert page.tags.count("svg") == 6 + 2
    assert len(page.described) == 6
    assert all("1 - NCP" in words and "apart: risk" in words for words in page.described)


def test_what_cannot_be_reached_is_told_with_the_reason(kept: Path, page: Page) -> None:
    words = "".join(page.words)
    assert "3. far" in words
    assert "cannot be reached" in words
    assert (kept / "03-far.yaml").is_file()
    assert not (kept / "03-far").exists()


def test_where_quasi_identifiers_are_exact_the_risk_is_that_of_the_source(home: Path) -> None:
    shown, apart, _ = incrowd.compare(policies(home), queries=0)
    assert apart.risk is not None
    assert apart.risk.before is not None
    assert apart.risk.after.average == apart.risk.before.average
    assert apart.risk.after.highest == apart.risk.before.highest == 1
    assert apart.risk.after.guess is not None
    assert apart.risk.before.guess is not None
    assert apart.risk.after.guess < apart.risk.before.guess
    assert shown.risk is not None
    assert shown.risk.after.highest <= 1 / 3
    assert shown.risk.by_chance is not None
    assert shown.risk.after.guess is not None
    assert shown.risk.by_chance <= shown.risk.after.guess


def test_a_second_run_gives_the_same_page_apart_from_seconds(home: Path, kept: Path) -> None:
    incrowd.compare(policies(home), queries=40, output=home / "again")

    def fixed(folder: Path) -> str:
        text = (folder / "index.html").read_text(encoding="utf-8")
        return re.sub(r'data-is="Seconds">[\d.]+', "", text)

    assert fixed(home / "again") == fixed(kept)


def test_a_policy_file_makes_its_release_again_byte_for_byte(kept: Path) -> None:
    for stem in ("01-a-b-c", "02-apart"):
        policy = Policy.from_file(kept / f"{stem}.yaml")
        assert policy.base / policy.output == kept / stem
        before = {each.name: each.read_bytes() for each in (kept / stem).iterdir()}
        anonymize(source_of(policy), policy).save(kept / stem, replace=True)
        assert {each.name: each.read_bytes() for each in (kept / stem).iterdir()} == before


def test_a_comparison_takes_the_place_of_an_earlier_one_and_of_nothing_else(
    home: Path, tmp_path: Path
) -> None:
    policy = policies(home)[0]
    place = tmp_path / "kept"
    incrowd.compare([policy], over={"k": [2, 4]}, queries=0, output=place)
    incrowd.compare([policy], over={"k": [5]}, queries=0, output=place, replace=True)
    assert sorted(each.name for each in place.iterdir()) == [
        "01-a-b-c-k=5", "01-a-b-c-k=5.yaml", "index.html",
    ]  # fmt: skip
    (place / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="holds other things"):
        incrowd.compare([policy], queries=0, output=place, replace=True)
    assert (place / "01-a-b-c-k=5" / "report.html").is_file()


def test_nothing_is_left_when_it_is_interrupted(home: Path, tmp_path: Path) -> None:
    def stop(stage: str, _done: int, _whole: int) -> None:
        if stage.startswith(f"{STRANGE}, k=4: verifying"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        incrowd.compare(
            policies(home)[:1],
            over={"k": [2, 4]},
            queries=0,
            output=tmp_path / "kept",
            progress=stop,
        )
    assert list(tmp_path.iterdir()) == []


def test_a_source_that_changes_during_a_comparison_is_seen_before_the_folder_appears(
    home: Path, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    source = tmp_path / "data.csv"
    source.write_text(RECORDS, encoding="utf-8")

    def change(stage: str, _done: int, _whole: int) -> None:
        if stage.endswith("verifying"):
            source.write_text(f"{RECORDS}\n", encoding="utf-8")

    with pytest.raises(EngineError, match=r"data\.csv was changed"):
        incrowd.compare(
            policies(home)[:1],
            source,
            queries=0,
            output=tmp_path / "work" / "kept",
            progress=change,
        )
    assert list((tmp_path / "work").iterdir()) == []


def test_a_frame_has_no_source_to_name(tmp_path: Path) -> None:
    frame = pl.read_csv(RECORDS.encode())
    incrowd.compare([NO_SENSITIVE], frame, over={"k": [4]}, queries=0, output=tmp_path / "kept")
    text = (tmp_path / "kept" / "01-policy-1-k=4.yaml").read_text(encoding="utf-8")
    assert "add `source:`" in text
    assert Policy.from_yaml(text).source is None
    words = "".join(Page((tmp_path / "kept" / "index.html").read_text(encoding="utf-8")).words)
    assert "a polars frame, 90 records" in words
    assert "Risk of a sensitive value being guessed" not in words


def test_all_policies_out_of_reach_are_a_page_of_reasons(home: Path, tmp_path: Path) -> None:
    found = incrowd.compare(policies(home)[2:], queries=0, output=tmp_path / "kept")
    assert found[0].folder is None
    page = Page((tmp_path / "kept" / "index.html").read_text(encoding="utf-8"))
    assert "cannot be reached" in "".join(page.words)
    assert "there is no release" in "".join(page.words)
    assert "none within reach" in "".join(page.words)
    assert "ready to be shared" not in "".join(page.words)
    assert "svg" not in page.tags


def test_a_value_that_does_not_fit_the_data_stops_no_other(home: Path) -> None:
    near, far = incrowd.compare(policies(home)[:1], over={"k": [3, 91]}, queries=0)
    assert near.problem is None
    assert far.problem is not None
    assert "the table has only 90 records" in far.problem
    with pytest.raises(PolicyError, match="only 90 records"):
        incrowd.compare(
            [{**NO_SENSITIVE, "privacy": [{"k-anonymity": {"k": 91}}]}], home / "data.csv"
        )


def test_a_mistake_that_all_share_is_a_mistake(home: Path, tmp_path: Path) -> None:
    policy = {**NO_SENSITIVE, "attributes": {"agee": "quasi"}}
    with pytest.raises(PolicyError, match="Did you mean 'age'"):
        incrowd.compare([policy], home / "data.csv", over={"k": [2, 3]}, output=tmp_path / "kept")
    assert list(tmp_path.iterdir()) == []


def test_names_of_folders_are_safe_in_paths() -> None:
    assert folder_name(1, "../../etc, k=2") == "01-etc-k=2"
    assert folder_name(12, "…") == "12"
    assert len(folder_name(1, "x" * 500)) == 63
