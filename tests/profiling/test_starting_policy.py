from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd import datasets
from incrowd.errors import InputError, ParameterError, PolicyError
from incrowd.pipeline import anonymize
from incrowd.policy import Policy
from incrowd.profiling import profile, starting_policy


def text_of(frame: pl.DataFrame, **options: Any) -> str:
    return starting_policy(profile(frame), **{"source_name": "data.csv", **options})


def policy_of(frame: pl.DataFrame, **options: Any) -> Policy:
    return Policy.from_yaml(text_of(frame, **options))


def patients(records: int = 12) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "patient_id": [f"P{i}" for i in range(records)],
            "age": [20 + 3 * i % 60 for i in range(records)],
            "sex": ["F" if i % 3 else "M" for i in range(records)],
            "diagnosis": [("Flu", "Gout", "Mumps", "Angina")[i % 4] for i in range(records)],
            "medication": [("A", "B", "C")[i % 3] for i in range(records)],
            "hiv": [i % 2 for i in range(records)],
        }
    )


def test_the_whole_text_for_a_small_table() -> None:
    assert text_of(patients(), policy_name="my.yaml") == (
        """\
# A starting policy for data.csv: 12 records, 6 columns.
#
# Every role is a guess. Check the roles before anything else, then the hierarchies:
#   identifier   points to a person: never published
#   quasi        others may know it of a person: generalized until everyone has a crowd
#   sensitive    nobody should learn it of a person: published as it is, see privacy
#   target       what analysts will predict: published as it is
#   keep         published as it is, protected by nothing
# When in doubt, choose quasi, or identifier for what nobody needs.
# Check `unit` too: it tells whose the rows are. Patients are counted, or rows.
#
# Then run: incrowd anonymize my.yaml
#
# Published as they are, unless you change their roles: diagnosis, medication, hiv.
source: data.csv
# No value of 'patient_id' repeats: one row for each.
unit: patient_id
attributes:
  patient_id: identifier  # Looks like the number of a person or record: never published.
  age:                    # Looks like an age: others may know it.
    role: quasi
    type: numeric
    hierarchy: {intervals: {start: 20, stop: 60, widths: [5, 10, 20]}}
  sex: quasi              # Looks like a sex or gender: others may know it.
  diagnosis: sensitive    # Looks like a diagnosis or disease: to be kept private.
  medication: sensitive   # Looks like a medication: to be kept private.
  hiv: sensitive          # Looks like a diagnosis or disease: to be kept private.
privacy:
  - k-anonymity: {k: 5}             # every record looks like at least 4 others
  - l-diversity: {l: 2, kind: distinct, sensitive: diagnosis}
  # - l-diversity: {l: 2, kind: distinct, sensitive: medication}
  # Take a # away where every group must hold 2 different values too.
  # hiv has too few values to vary in every group.
method: {name: mondrian, split: loss, labels: set}
suppression: 0.02                   # at most this share of the records may be dropped
output: data-release
"""
    )


@pytest.mark.parametrize(
    ("name", "rows"), [("adult", None), ("adult", 700), ("cancer-registry", 5_000)]
)
def test_the_bundled_data_can_be_anonymized_with_it(name: str, rows: int | None) -> None:
    frame = datasets.load(name, rows=rows)
    release = anonymize(frame, policy_of(frame))
    records = release.manifest["records"]
    assert records["published"] >= 0.98 * frame.height
    quasi = [a["name"] for a in release.manifest["attributes"] if a["role"] == "quasi"]
    assert release.data.group_by(quasi).len()["len"].min() >= 5  # type: ignore[operator]


def test_a_csv_file_can_be_anonymized_with_it(tmp_path: Path) -> None:
    frame = datasets.load("cancer-registry", rows=1_000)
    frame.write_csv(tmp_path / "patients.csv", separator=";")
    found = profile(tmp_path / "patients.csv", separator=";")
    text = starting_policy(found, source_name="patients.csv")
    (tmp_path / "policy.yaml").write_text(text, encoding="utf-8")
    release = anonymize(policy=tmp_path / "policy.yaml")
    assert "patient_id" not in release.data.columns
    assert release.manifest["records"]["source"] == 1_000


@pytest.mark.parametrize(
    "columns",
    [
        {"birth": ["31.01.1980", "01.02.1990", "03.04.1999", None]},
        {"seen": ["1/2/80 10:30", "2/3/81 11:45", "4/5/82 9:00", "4/5/82 23:59"]},
        {"seen": [f"2011-07-1{i}T09:54:17Z" for i in range(4)]},
        {"seen": [f"2011-07-1{i} 09:54:17.12345678{i}+02:00" for i in range(4)]},
        {"seen": ["2011-07-10", "2011-07-11T10:00", "2011-07-12T10:00:00Z", None]},
        {"seen": [datetime(2011, 7, 10 + i, 9, 54) for i in range(4)]},
        {"diagnosis": [f"2011-07-1{i}T09:54:17Z" for i in range(4)], "sex": ["F", "M", "F", "M"]},
        {"outcome": [f"10.07.201{i} 09:54 +0200" for i in range(4)], "sex": ["F", "M", "F", "M"]},
        {"plz": ["01067", "10115", "80331", ""]},
        {"plz": [1067, 10115, 80331, 80331]},
        {"plz": ["1067", "A-8010", "80331", "80331"]},
        {"age": [1, 2, 3, 999]},
        {"age": ["34", "35", "unknown", "7"]},
        {"weight": [70.25, 1e15, 3.1, 0.1 + 0.2]},
        {"glucose": [0.1 + 0.2, 1e15, 3.1, 4.4], "sex": ["F", "M", "F", "M"]},
        {"empty": [None] * 4, "sex": ["F", "M", "F", "M"]},
        {"constant": ["same"] * 4, "sex": ["F", "M", "F", "M"]},
        {"job": ["{a|b}", "*", "[1-2)", "\\x"]},
        {"flag": [True, False, None, True]},
        {"born": [19800131, 19900201, 20010101, 20010101]},
    ],
)
def test_dirty_and_odd_columns_can_be_anonymized_with_it(
    columns: dict[str, Sequence[object]],
) -> None:
    frame = pl.DataFrame(columns, strict=False)
    release = anonymize(frame, policy_of(frame))
    assert release.manifest["records"]["published"] == 4


@pytest.mark.parametrize(("records", "k"), [(4, 2), (5, 2), (9, 4), (10, 5), (12, 5)])
def test_k_is_at_most_half_the_records(records: int, k: int) -> None:
    text = text_of(patients(records))
    assert Policy.from_yaml(text).privacy[0].model_dump()["k"] == k
    assert ("lowered from 5" in text) == (k < 5)


@pytest.mark.parametrize("records", [1, 3])
def test_files_with_fewer_than_four_records_are_refused(records: int) -> None:
    found = profile(patients(12).head(records).select("age", "sex"))
    with pytest.raises(InputError, match="at least 4"):
        starting_policy(found, source_name="data.csv")


@pytest.mark.parametrize("options", [{"k": 1}, {"l": 1}])
def test_illegal_parameters_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match="at least 2"):
        text_of(patients(), **options)


def promises(policy: Policy) -> list[tuple[str, str | None]]:
    return [(m.name, m.model_dump().get("sensitive")) for m in policy.privacy]


def test_diversity_is_asked_of_the_most_harmful_attribute_only() -> None:
    k_and_l = [("k-anonymity", None), ("l-diversity", "diagnosis")]
    assert promises(policy_of(patients())) == k_and_l
    assert promises(policy_of(patients().select(reversed(patients().columns)))) == k_and_l


def test_without_l_or_a_sensitive_attribute_only_k_anonymity_is_proposed() -> None:
    assert promises(policy_of(patients(), l=None)) == [("k-anonymity", None)]
    assert "l-diversity" not in text_of(patients(), l=None)
    assert promises(policy_of(patients().select("age", "sex"))) == [("k-anonymity", None)]


def test_diversity_of_more_values_than_there_are_is_not_asked() -> None:
    assert promises(policy_of(patients(), l=4)) == [
        ("k-anonymity", None),
        ("l-diversity", "diagnosis"),
    ]
    assert promises(policy_of(patients(), l=5)) == [("k-anonymity", None)]


def test_diversity_of_what_nearly_all_have_alike_is_left_to_the_user() -> None:
    frame = pl.DataFrame({"sex": ["F", "M"] * 10, "tobacco": [0] * 17 + [5, 6, 7]})
    text = text_of(frame)
    assert promises(Policy.from_yaml(text)) == [("k-anonymity", None)]
    assert "# - l-diversity: {l: 2, kind: distinct, sensitive: tobacco}" in text


def test_every_attribute_has_its_reason_beside_it_in_one_column() -> None:
    frame = datasets.load("adult", rows=2_000)
    found = profile(frame)
    lines = text_of(frame).splitlines()
    body = lines[lines.index("attributes:") + 1 : lines.index("privacy:")]
    beside = [line for line in body if "# " in line]
    assert len({line.index("# ") for line in beside}) == 1
    assert max(map(len, lines)) <= 100
    joined = " ".join(line.split("# ", 1)[1] for line in beside)
    for column in found.columns:
        assert column.reason in joined


def test_how_it_was_read_is_in_the_policy(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes("age|sex|städte\n1|m|ü\n2|f|ö\n3|m|ü\n4|f|ü\n".encode("latin-1"))
    found = profile(path, separator="|", encoding="latin-1", columns=["age", "sex"])
    policy = Policy.from_yaml(starting_policy(found, source_name="data.csv"))
    assert (policy.separator, policy.encoding, policy.other) == ("|", "latin-1", "drop")
    assert list(policy.attributes) == ["age", "sex"]


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("postgresql://me:secret@host/db", "postgresql://me@host/db"),
        ("postgres://me@host:99/db?password=secret&sslmode=require", "postgresql://me@host:99/db"),
        ("postgresql://me:secret@/db?host=/run", "postgresql://me@/db"),
    ],
)
def test_no_password_and_no_parameter_of_a_server_gets_into_the_policy(
    url: str, named: str
) -> None:
    text = text_of(patients(), source_name=url)
    assert Policy.from_yaml(text).source == named
    assert "secret" not in text
    assert "PGHOST" in text
    assert Policy.from_yaml(text).output == "release"


def test_a_frame_has_no_source() -> None:
    assert policy_of(patients(), source_name=None).source is None


ODD_NAMES = [
    "a: b", "a #b", "- a", "no", "true", "NULL", "~", "1", "007", "1e3", "0x1F", "1980-01-01",
    "on", " leading", "trailing ", "tab\there", "line\nbreak", "\r\n", "quote'", 'double"quote',
    "back\\slash", "{a}", "[a]", "a, b", "*star", "&anchor", "!tag", "%d", "@at", "`tick`", "|",
    ">", "?", "? a", ":", "Größe", "naïve", "年齢", "😀", "\u200b", "\u2028", "\ufeff", "\x85",
    "\x7f", "a\u00a0b", "<<", "=", "x" * 2_000, "attributes", "role", ".", "...", "---", "\x00",
    "e\u0301",
]  # fmt: skip


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_come_back_unchanged(name: str) -> None:
    frame = pl.DataFrame({name: ["a", "b", "a", "b"], "disease": ["x", "y", "z", "z"]})
    text = text_of(frame, source_name=f"{name}.csv")
    policy = Policy.from_yaml(text)
    assert list(policy.attributes) == [name, "disease"]
    possible = "\0" not in name and len(name) < 255
    assert policy.source == (f"{name}.csv" if possible else None)
    assert list(yaml.safe_load(text)["attributes"]) == [name, "disease"]


def test_an_odd_sensitive_name_is_named_in_the_privacy() -> None:
    name = 'diagnosis: "main", {a}'
    frame = pl.DataFrame({name: ["x", "y", "z", "z"], "sex": ["f", "m", "f", "m"]})
    assert promises(policy_of(frame)) == [("k-anonymity", None), ("l-diversity", name)]


_NAMES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
    st.sampled_from([*ODD_NAMES, "age", "disease", "patient_id", "birth date", "outcome", "zip"]),
)
_CELLS = st.one_of(
    st.lists(st.sampled_from(["a", "b", "c", None, ""]), min_size=6, max_size=6),
    st.lists(st.integers(-5, 200).map(str), min_size=6, max_size=6),
    st.lists(st.dates().map(str), min_size=6, max_size=6),
    st.lists(st.decimals(0, 9, places=2).map(str), min_size=6, max_size=6),
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), min_size=6, max_size=6),
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(_NAMES, _CELLS, min_size=1, max_size=6))
def test_the_policy_of_any_table_loads_and_names_its_columns(
    table: dict[str, list[object]],
) -> None:
    frame = pl.DataFrame(table, schema=dict.fromkeys(table, pl.String))
    frame = frame.with_columns(pl.Series("a region", ["x", "y"] * 3))  # something to publish
    found = profile(frame)
    text = starting_policy(found, source_name="data.csv")
    policy = Policy.from_yaml(text)
    assert list(policy.attributes) == frame.columns
    assert {name: a.role for name, a in policy.attributes.items()} == {
        column.name: column.role for column in found.columns
    }
    assert policy.quasi
    assert list(yaml.safe_load(text)["attributes"]) == frame.columns
    assert policy.unit == found.unit.unit
    if found.unit.undecided:
        with pytest.raises(PolicyError, match="say `unit: row`"):
            anonymize(frame, policy, accept_unprotected=True)
        policy = policy.model_copy(update={"unit": "row"})
    release = anonymize(frame, policy, accept_unprotected=True)
    assert release.manifest["records"]["published"] == frame.height


def test_a_diagnosis_that_varies_in_spelling_alone_is_not_asked_to_vary() -> None:
    table = pl.DataFrame(
        {
            "age": [20 + n % 40 for n in range(120)],
            "diagnosis": [("HIV", "hiv", "HIV ", "H\u200bIV")[n % 4] for n in range(120)],
        }
    )
    found = profile(table)
    assert found.columns[1].role == "sensitive"
    assert found.columns[1].distinct == 1
    text = starting_policy(found, source_name="data.csv")
    assert "diagnosis has too few values to vary in every group" in text
    anonymize(table, Policy.from_mapping({**yaml.safe_load(text), "unit": "row"}))
