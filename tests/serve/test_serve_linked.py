"""Several files of the same patients over HTTP: sent at once, linked, released, downloaded."""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import polars as pl
import pytest
from clinic import PATIENTS, clinic
from running_server import Served, ended, serving, studied

import incrowd

SECRET = "Zq7Secret"
FILES = clinic()
EVENTS = {name: len(FILES[f"{name}.csv"].splitlines()) - 1 for name in ("conditions", "drugs")}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("linked"), "--upload-limit", "3MB") as running:
        yield running
        assert running.said() == ""


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[httpx.Client]:
    with served.client() as found:
        yield found


def send(client: httpx.Client, files: Mapping[str, str | bytes]) -> httpx.Response:
    """Send files in one request."""
    form = [("file", (name, content, "text/csv")) for name, content in files.items()]
    return client.post("/sources/linked", params={"wait": 60}, files=form)


def added(client: httpx.Client, files: Mapping[str, str | bytes]) -> dict[str, Any]:
    answer = send(client, files)
    assert answer.status_code == 201, answer.text
    return studied(client, answer.json())


def kept(served: Served) -> list[Path]:
    [workspace] = served.workspaces()
    return list((workspace / "sources").iterdir())


@pytest.fixture(scope="module")
def source(client: httpx.Client) -> dict[str, Any]:
    return added(client, FILES)


@pytest.fixture(scope="module")
def run(client: httpx.Client, source: dict[str, Any]) -> dict[str, Any]:
    begun = client.post(f"/sources/{source['id']}/runs").json()
    found = ended(client, begun["id"])
    assert found["state"] == "done", found["message"]
    return found


def test_files_sent_at_once_are_told_as_tables_that_hang_together(
    client: httpx.Client, source: dict[str, Any]
) -> None:
    assert source["name"] == "patients.csv and 2 more tables"
    assert source["records"] == PATIENTS
    assert source["problem"] is None
    assert [
        (each["name"], each["unit"], each["rows"], each["unmatched"]) for each in source["tables"]
    ] == [
        ("patients", "Id", PATIENTS, 0),
        ("conditions", "PATIENT", EVENTS["conditions"], 0),
        ("drugs", "PATIENT", EVENTS["drugs"], 0),
    ]
    roles = {each["name"]: each["role"] for each in source["columns"]}
    assert (roles["age"], roles["conditions.CODE"], roles["drugs.PATIENT"]) == (
        "quasi",
        "sensitive",
        "identifier",
    )
    place = f"/sources/{source['id']}"
    rows = client.get(f"{place}/rows", params={"table": "drugs", "rows": 1}).json()
    assert (rows["columns"], rows["total"]) == (["PATIENT", "drug"], EVENTS["drugs"])
    assert client.get(f"{place}/rows").json()["columns"] == ["Id", "age", "sex", "city"]
    none = client.get(f"{place}/rows", params={"table": "drug"})
    assert "Did you mean 'drugs'?" in none.json()["error"]


def test_the_live_risk_counts_patients_and_what_they_hold(
    client: httpx.Client, source: dict[str, Any]
) -> None:
    asked = {"quasi": ["sex", "city"], "sensitive": ["conditions.CODE"]}
    found = client.get(f"/sources/{source['id']}/risk", params=asked).json()
    patients = pl.read_csv(io.StringIO(FILES["patients.csv"]))
    held = pl.read_csv(io.StringIO(FILES["conditions.csv"])).unique(["PATIENT", "CODE"])
    sizes = patients.group_by("sex", "city").len("size")
    most = (
        patients.join(held, left_on="Id", right_on="PATIENT")
        .group_by("sex", "city", "CODE")
        .len("hold")
        .group_by("sex", "city")
        .agg(pl.max("hold"))
        .join(sizes, on=["sex", "city"])
    )
    assert (found["one"], found["records"], found["groups"]["count"]) == ("patient", PATIENTS, 6)
    assert found["groups"]["smallest"] == sizes["size"].min()
    (code,) = found["sensitive"]
    assert code["several"]
    assert code["confidence_per_record"] == pytest.approx(most["hold"].sum() / PATIENTS)
    events = client.get(f"/sources/{source['id']}/risk", params={"quasi": ["conditions.note"]})
    assert "varies within a patient" in events.json()["error"]


def test_a_run_publishes_every_table_and_the_archive_holds_them(
    client: httpx.Client, run: dict[str, Any], tmp_path: Path
) -> None:
    assert run["summary"]["verified"]
    assert run["summary"]["patients"]["published"] == PATIENTS
    assert {"patients.csv", "conditions.csv", "drugs.csv"} < set(run["files"])
    assert run["summary"]["risk_before"]["one"] == "patient"
    rows = client.get(f"/runs/{run['id']}/rows").json()
    assert rows["tables"] == ["patients", "conditions", "drugs"]
    assert (rows["table"], rows["total"]) == ("patients", PATIENTS)
    packed = client.get(f"/runs/{run['id']}/archive").content
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(tmp_path)
    assert incrowd.verify(tmp_path / "release").holds
    drugs = pl.read_csv(tmp_path / "release" / "drugs.csv")
    assert drugs.height == EVENTS["drugs"]
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    again = incrowd.anonymize(None, tmp_path / "policy.yaml")
    again.save(tmp_path / "again")
    shown = [
        pl.read_csv(tmp_path / each / "patients.csv").drop("patient").sort("age", "sex", "city")
        for each in ("release", "again")
    ]
    assert shown[0].equals(shown[1])


def test_rows_that_name_nobody_are_told_before_a_run(client: httpx.Client) -> None:
    source = added(client, clinic(stray=3))
    place = f"/sources/{source['id']}"
    assert source["tables"][1]["unmatched"] == 3
    assert "3 of" in source["problem"]
    assert "unmatched: drop" in source["problem"]
    assert client.post(f"{place}/runs").status_code == 422
    policy = client.get(f"{place}/draft").json()["policy"]
    policy["tables"]["conditions"]["unmatched"] = "drop"
    assert client.put(f"{place}/draft", json=policy).json()["problem"] is None
    client.delete(place)


def test_a_policy_cannot_reach_other_files_nor_link_by_other_columns(
    client: httpx.Client, source: dict[str, Any], tmp_path: Path
) -> None:
    place = f"/sources/{source['id']}"
    given = client.get(f"{place}/draft").json()["policy"]
    (tmp_path / "secret.csv").write_text(f"Id,age\n{SECRET},1\n", encoding="utf-8")

    def put(change: Any) -> httpx.Response:
        policy = json.loads(json.dumps(given))
        change(policy)
        return client.put(f"{place}/draft", json=policy)

    moved = put(lambda policy: policy["patients"].update(source=str(tmp_path / "secret.csv")))
    assert moved.json()["policy"]["patients"]["source"] == "patients.csv"
    assert SECRET not in moved.text
    refused = {
        "is for the command line": lambda policy: policy["tables"]["drugs"].update(query="SELECT"),
        "Name these, and no others": lambda policy: policy["tables"].pop("drugs"),
        "Leave `unit: PATIENT`": lambda policy: policy["tables"]["conditions"].update(unit="note"),
        "not given to this page": lambda policy: policy["patients"]["attributes"].update(
            city={"role": "quasi", "hierarchy": "../x.csv"}
        ),
    }
    for told, change in refused.items():
        answer = put(change)
        assert answer.status_code == 422, told
        assert told in answer.json()["error"]
    flat = {"attributes": {"age": "quasi"}, "privacy": [{"k-anonymity": {"k": 2}}]}
    assert client.put(f"{place}/draft", json=flat).status_code == 422
    text = client.get(f"{place}/policy").text
    moved_text = text.replace("source: drugs.csv", "source: /etc/drugs.csv")
    assert client.put(f"{place}/policy", content=moved_text).status_code == 200
    assert "/etc" not in client.get(f"{place}/policy").text
    client.put(f"{place}/policy", content=text)
    assert client.get(f"{place}/policy").text == text


def test_a_hierarchy_of_the_patients_can_be_sent(client: httpx.Client) -> None:
    source = added(client, FILES)
    place = f"/sources/{source['id']}"
    tree = "Berlin;North;*\nParis;North;*\nRome;South;*\n"
    sent = client.put(f"{place}/hierarchies/city", params={"name": "c.csv"}, content=tree)
    assert sent.json()["complete"]
    told = client.get(f"{place}/draft").json()
    assert told["policy"]["patients"]["attributes"]["city"]["hierarchy"] == "hierarchies/c.csv"
    assert told["problem"] is None
    client.delete(place)


REFUSED: dict[str, tuple[dict[str, str | bytes], str]] = {
    "one file": ({"patients.csv": FILES["patients.csv"]}, "two files at least"),
    "one name": ({"a.csv": "x,y\n1,2\n", "../A.csv": "x,y\n1,2\n"}, "are called A.csv"),
    "an ending": ({**FILES, "a.exe": "x"}, "the ending .exe"),
    "empty": ({**FILES, "a.csv": ""}, "is empty"),
    "a workbook": ({**FILES, "a.csv": b"PK\x03\x04" + b"[Content_Types].xml"}, "Excel workbook"),
    "ragged": ({**FILES, "a.csv": f"a,b\n1,{SECRET}\n1,2,3\n"}, "line 3: 3 cells"),
    "nothing in common": (
        {"a.csv": f"a,b\n{SECRET},2\n3,4\n", "b.csv": "c,d\n1,2\n3,4\n"},
        "None of 'a.csv' and 'b.csv' holds identifiers",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_files_that_do_not_fit_are_refused_and_not_kept(
    case: str, client: httpx.Client, served: Served
) -> None:
    files, told = REFUSED[case]
    before = kept(served)
    answer = send(client, files)
    assert answer.status_code == 422, answer.text
    assert told in answer.json()["error"]
    assert SECRET not in answer.text
    assert kept(served) == before


def test_files_over_the_limit_together_are_refused(client: httpx.Client, served: Served) -> None:
    before = kept(served)
    large = "a,b\n" + "1,2\n" * 450_000
    answer = send(client, {"a.csv": large, "b.csv": large})
    assert answer.status_code == 413
    assert "MB" in answer.json()["error"]
    assert kept(served) == before


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("text/csv", b"a,b\n1,2\n"),
        ("multipart/form-data", b"--x\r\n"),
        ("multipart/form-data; boundary=x", b"Wq9Secret"),
        (
            "multipart/form-data; boundary=x",
            b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\n",
        ),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; filename="a.csv"\r\n\r\na,b\n1,Wq9Secret',
        ),
    ],
)
def test_what_is_no_form_of_files_is_refused(
    kind: str, content: bytes, client: httpx.Client, served: Served
) -> None:
    before = kept(served)
    answer = client.post("/sources/linked", content=content, headers={"Content-Type": kind})
    assert answer.status_code == 422, answer.text
    assert "-F file=@" in answer.json()["error"]
    assert "Wq9Secret" not in answer.text
    assert kept(served) == before
