"""The whole way over HTTP: from a file to a verified release, the same as on the command line."""

import io
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import polars as pl
import pytest
import yaml
from running_server import CSV, INCROWD, POLICY, Served, added, ended, send, serving, soon, studied

import incrowd

SEX = "M,any\nF,any\n"
RELEASED = POLICY.replace("sex: quasi", "sex: {role: quasi, hierarchy: hierarchies/s.csv}")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("way"), "--at-once", "1") as running:
        yield running


@pytest.fixture(scope="module")
def patients(served: Served) -> str:
    """A source whose policy each test writes anew."""
    with served.client() as client:
        return added(client)


@pytest.fixture(scope="module")
def made(served: Served) -> dict[str, Any]:
    """A run that has made a release of POLICY with a hierarchy; nobody changes its source."""
    with served.client() as client:
        source = added(client)
        given = client.put(
            f"/sources/{source}/hierarchies/sex", params={"name": "s.csv"}, content=SEX
        )
        assert given.json()["complete"] is True
        answer = client.put(f"/sources/{source}/policy", content=RELEASED)
        assert answer.status_code == 200, answer.text
        run = client.post(f"/sources/{source}/runs")
        assert run.status_code == 201
        assert client.get(f"/runs/{run.json()['id']}/rows").status_code == 409
        return ended(client, run.json()["id"])


@pytest.fixture
def client(served: Served, patients: str, made: dict[str, Any]) -> Iterator[httpx.Client]:
    with served.client() as found:
        yield found
        for source in found.get("/sources").json():
            if source["id"] not in (patients, made["source"]):
                found.delete(f"/sources/{source['id']}")


def test_from_a_file_to_a_verified_release_with_the_bytes_of_the_command_line(
    client: httpx.Client, made: dict[str, Any], tmp_path: Path
) -> None:
    source = made["source"]
    guessed = {c["name"]: c["role"] for c in client.get(f"/sources/{source}").json()["columns"]}
    assert guessed["id"] == "identifier"
    assert (made["state"], made["message"]) == ("done", "")
    assert made["summary"]["verified"] is True
    assert made["summary"]["groups"]["smallest"] >= 4
    assert made["summary"]["risk"]["prosecutor"]["highest"] <= 0.25
    assert made["summary"]["risk_before"] == client.get(f"/sources/{source}/risk").json()
    packed = client.get(f"/runs/{made['id']}/archive")
    assert packed.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        archive.extractall(tmp_path)
        assert "private-report.html" not in " ".join(archive.namelist())
    private = client.get(f"/runs/{made['id']}/private-report")
    assert "not for publication" in private.text
    assert private.headers["content-security-policy"].startswith("sandbox;")
    assert "private-report.html" not in made["files"]
    assert "not for publication" not in client.get(f"/runs/{made['id']}/report").text
    assert (tmp_path / "policy.yaml").read_text(encoding="utf-8") == RELEASED
    assert (tmp_path / "hierarchies" / "s.csv").read_text(encoding="utf-8") == SEX
    assert incrowd.verify(tmp_path / "release").holds

    (tmp_path / "patients.csv").write_text(CSV, encoding="utf-8")
    subprocess.run([*INCROWD, "anonymize", "policy.yaml", "-q"], cwd=tmp_path, check=True)
    assert folder(tmp_path / "release") == folder(tmp_path / "out")


def folder(place: Path) -> dict[str, bytes]:
    return {p.relative_to(place).as_posix(): p.read_bytes() for p in place.rglob("*")}


def test_rows_of_a_patient_are_gathered_and_repeats_that_no_unit_explains_refused(
    client: httpx.Client,
) -> None:
    header, *lines = CSV.splitlines()
    visits = [f"P{n % 80:05},{line.split(',', 1)[1]}" for n, line in enumerate(lines)]
    text = "\n".join(["patient_" + header, *visits])
    source = studied(client, send(client, "visits.csv", text.encode()).json())
    assert (source["unit"]["unit"], source["unit"]["undecided"]) == ("patient_id", False)
    assert "'patient_id' has 80 different values in 400 rows" in source["unit"]["reason"]
    here = f"/sources/{source['id']}"
    gathered = ended(client, client.post(f"{here}/runs").json()["id"])
    assert gathered["state"] == "done", gathered["message"]
    assert gathered["summary"]["unit"] == "patient_id"
    assert "Patients are counted" in gathered["summary"]["counted"]
    unsaid = POLICY.replace("  id: ", "  patient_id: ")
    answer = client.put(f"{here}/policy", content=unsaid)
    assert answer.status_code == 422
    assert "'patient_id' (80 different values in 400 rows)" in answer.json()["error"]
    assert "P000" not in answer.text
    rows = {**yaml.safe_load(unsaid), "unit": "row"}
    assert client.put(f"{here}/draft", json=rows).json()["problem"] is None
    done = ended(client, client.post(f"{here}/runs").json()["id"])
    assert done["state"] == "done", done["message"]
    assert done["summary"]["unit"] == "row"
    assert "A patient with several records is not protected" in done["summary"]["counted"]


def test_columns_that_single_out_are_published_once_that_is_accepted(
    client: httpx.Client, patients: str
) -> None:
    kept = POLICY.replace("id: identifier", "id: keep")
    assert kept != POLICY
    assert client.put(f"/sources/{patients}/policy", content=kept).status_code == 200
    done = ended(client, client.post(f"/sources/{patients}/runs").json()["id"])
    assert (done["state"], done["unprotected"]) == ("failed", True)
    assert "400 of 400 records are unique" in done["message"]
    accepted = client.post(f"/sources/{patients}/runs", params={"accept_unprotected": True})
    done = ended(client, accepted.json()["id"])
    assert (done["state"], done["unprotected"]) == ("done", False)
    (told,) = done["summary"]["warnings"]
    assert told.startswith("400 of 400 records are unique")


def test_the_live_risk_is_that_of_the_command(
    client: httpx.Client, patients: str, tmp_path: Path
) -> None:
    source = patients
    path = tmp_path / "patients.csv"
    path.write_text(CSV, encoding="utf-8")
    chosen = {"quasi": ["age", "sex"], "sensitive": ["disease"]}
    live = client.get(f"/sources/{source}/risk", params=chosen).json()
    wanted = incrowd.risk(path, quasi=["age", "sex"], sensitive=["disease"]).as_dict()
    assert live["groups"] == wanted["groups"]
    assert live["uniques"] == wanted["uniques"]
    assert live["prosecutor"] == wanted["prosecutor"]
    assert live["marketer"] == wanted["marketer"]["average"]
    assert live["sensitive"] == wanted["sensitive"]
    alone = client.get(f"/sources/{source}/risk", params={"quasi": ["id"]}).json()
    assert alone["uniques"] == {"records": 400, "share": 1}


def test_the_live_risk_counts_patients_where_they_are_told_apart(tmp_path: Path) -> None:
    from incrowd._runtime.progress import silent
    from incrowd.serve.workspace._live_risk import CodedColumns, live_risk
    from incrowd.serve.workspace._studies import kept_columns

    frame = pl.DataFrame(
        {
            "who": ["a", "A ", "b", "c"],
            "ward": ["1", "1", "1", "2"],
            "ill": ["flu", "hiv", "hiv", "flu"],
        }
    )
    folder = tmp_path / "coded"
    cardinalities = kept_columns(silent, frame, folder)
    columns = CodedColumns(folder, frame.columns, cardinalities)
    found = live_risk(columns, ["ward"], ["ill"], "who")
    asked = incrowd.risk(frame, quasi=["ward"], sensitive=["ill"], unit="who").as_dict()
    assert (found["one"], found["records"]) == ("patient", asked["patients"])
    assert found["uniques"]["records"] == asked["uniques"]["patients"] == 1
    assert found["sensitive"] == asked["sensitive"]
    assert live_risk(columns, ["ward"], [], "ill")["one"] == "patient"
    assert live_risk(columns, ["ward"], [])["one"] == "record"


def test_the_live_risk_takes_spellings_for_one(tmp_path: Path) -> None:
    from incrowd._runtime.progress import silent
    from incrowd.serve.workspace._live_risk import CodedColumns, live_risk
    from incrowd.serve.workspace._studies import kept_columns

    ill = ["HIV", "hiv", "HIV ", None, " ", "Flu"]
    frame = pl.DataFrame({"ward": list("aaabbb"), "ill": ill})
    cardinalities = kept_columns(silent, frame, tmp_path)
    columns = CodedColumns(tmp_path, frame.columns, cardinalities)
    found = live_risk(columns, ["ward"], ["ill"])
    assert (
        found["sensitive"]
        == incrowd.risk(frame, quasi=["ward"], sensitive=["ill"]).as_dict()["sensitive"]
    )
    assert found["sensitive"][0]["homogeneous_records"] == 3
    assert live_risk(columns, ["ill"], [])["uniques"]["records"] == 6


def test_rows_are_shown_and_a_reload_finds_everything_on_the_server(
    client: httpx.Client, made: dict[str, Any]
) -> None:
    source, run = made["source"], made["id"]
    raw = client.get(f"/sources/{source}/rows", params={"rows": 2}).json()
    assert raw["columns"] == ["id", "age", "sex", "disease"]
    assert raw["rows"] == [["P00000", "20", "M", "Flu"], ["P00001", "21", "F", "HIV"]]
    assert client.get(f"/runs/{run}").json() == made
    assert client.get(f"/sources/{source}/draft").json()["policy"]["output"] == "out"
    assert [each["id"] for each in client.get("/runs", params={"source": source}).json()] == [run]
    shown = client.get(f"/runs/{run}/rows", params={"offset": 398, "rows": 10}).json()
    assert (shown["table"], shown["total"], len(shown["rows"])) == ("data", 400, 2)
    text = client.get(f"/runs/{run}/files/data.csv").text
    assert text.splitlines()[-1].split(",") == shown["rows"][-1]
    assert client.get(f"/runs/{run}/files/../inputs/patients.csv").status_code == 404
    assert client.get(f"/runs/{run}/files/%2e%2e/inputs/patients.csv").status_code == 404


def test_anatomy_shows_its_tables(client: httpx.Client, patients: str) -> None:
    source = patients
    assert client.put(f"/sources/{source}/policy", content=POLICY).status_code == 200
    draft = client.get(f"/sources/{source}/draft").json()["policy"]
    draft |= {
        "attributes": {"id": "identifier", "age": "quasi", "sex": "quasi", "disease": "sensitive"},
        "privacy": [{"l-diversity": {"l": 2, "sensitive": "disease"}}],
        "method": "anatomize",
        "publish": "anatomy",
    }
    draft.pop("suppression", None)
    answer = client.put(f"/sources/{source}/draft", json=draft)
    assert answer.status_code == 200, answer.text
    done = ended(client, client.post(f"/sources/{source}/runs").json()["id"])
    assert done["state"] == "done", done["message"]
    shown = client.get(f"/runs/{done['id']}/rows").json()
    assert shown["tables"] == ["qit", "st_disease"]
    other = client.get(f"/runs/{done['id']}/rows", params={"table": "st_disease"}).json()
    assert other["columns"] == ["group_id", "disease", "count"]


def test_runs_wait_for_each_other_and_end_without_a_trace_with_their_source(
    client: httpx.Client, served: Served
) -> None:
    [workspace] = served.workspaces()
    before = {*(workspace / "runs").iterdir(), *(workspace / "sources").iterdir()}
    demo = studied(client, client.post("/sources/demo").json())
    assert demo["records"] == 72_194
    source = demo["id"]
    first, second, third = (client.post(f"/sources/{source}/runs").json()["id"] for _ in range(3))
    soon(lambda: client.get(f"/runs/{first}").json()["progress"]["stage"] != "waiting")
    states = [client.get(f"/runs/{run}").json()["state"] for run in (first, second, third)]
    assert states == ["running", "waiting", "waiting"]
    assert client.post(f"/runs/{second}/cancel").json()["state"] == "cancelled"

    assert (workspace / "runs" / first).is_dir()
    answer = client.post(f"/runs/{first}/cancel").json()
    assert (answer["state"], answer["summary"], answer["files"]) == ("cancelled", None, [])
    assert not (workspace / "runs" / first).exists()
    assert client.get(f"/runs/{first}/archive").status_code == 409
    assert client.post(f"/runs/{first}/cancel").json()["state"] == "cancelled"

    soon(lambda: client.get(f"/runs/{third}").json()["state"] != "waiting")
    assert client.get(f"/runs/{third}").json()["state"] == "running"
    assert client.delete(f"/sources/{source}").status_code == 204
    assert client.get(f"/runs/{third}").status_code == 404
    assert client.get(f"/sources/{source}").status_code == 404
    assert {*(workspace / "runs").iterdir(), *(workspace / "sources").iterdir()} == before
    assert list((workspace / "tmp").iterdir()) == []


def test_a_run_that_cannot_keep_its_promise_says_so(client: httpx.Client, patients: str) -> None:
    strict = POLICY.replace("l: 2", "l: 9")
    assert client.put(f"/sources/{patients}/policy", content=strict).status_code == 200
    done = ended(client, client.post(f"/sources/{patients}/runs").json()["id"])
    assert done["state"] == "failed"
    assert "l-diversity" in done["message"]


def test_hierarchies_are_taken_shown_and_counted(client: httpx.Client) -> None:
    source = added(client)
    place = f"/sources/{source}/hierarchies"
    coverage = client.put(f"{place}/sex", params={"name": "sex.csv"}, content="M,any\n").json()
    assert coverage == {
        "values": 2, "covered": 1, "missing": 1, "records": 400, "records_missing": 200,
        "complete": False,
    }  # fmt: skip
    run = ended(client, client.post(f"/sources/{source}/runs").json()["id"])
    assert run["state"] == "failed"
    assert "1 distinct values (200 records" in run["message"]
    whole = client.put(f"{place}/sex", params={"name": "sex.csv"}, content="M,any\nF,any\n")
    assert whole.json()["complete"] is True
    tree = client.get(f"{place}/sex").json()
    assert tree["root"]["label"] == "any"
    assert [child["label"] for child in tree["root"]["children"]] == ["M", "F"]
    torn = client.put(f"{place}/sex", content="M,any\nF\n")
    assert (torn.status_code, torn.json()["kind"]) == (422, "HierarchyError")
    assert client.get(f"{place}/sex").json()["coverage"]["complete"] is True


def test_a_run_that_cannot_begin_leaves_nothing(client: httpx.Client, served: Served) -> None:
    source = added(client)
    place = f"/sources/{source}/hierarchies/sex"
    client.put(place, params={"name": "sex.csv"}, content="M,any\nF,any\n")
    [workspace] = served.workspaces()
    (workspace / "sources" / source / "hierarchies" / "sex.csv").unlink()
    before = list((workspace / "runs").iterdir())
    assert client.post(f"/sources/{source}/runs").status_code >= 400
    assert client.get("/runs", params={"source": source}).json() == []
    assert list((workspace / "runs").iterdir()) == before


def test_requests_that_make_no_sense_are_refused_as_such(
    client: httpx.Client, made: dict[str, Any]
) -> None:
    source = added(client, "漢" * 100 + ".csv")
    given = client.put(
        f"/sources/{source}/hierarchies/sex",
        params={"name": "漢" * 100 + ".csv"},
        content="M,x\nF,x",
    )
    assert given.status_code == 200, given.text
    before = client.get(f"/sources/{source}/draft").json()
    half = b'{"attributes": {"age": "quasi"}, "other": "drop", "output": "\\ud800"}'
    headers = {"Content-Type": "application/json"}
    answer = client.put(f"/sources/{source}/draft", content=half, headers=headers)
    assert answer.status_code == 422, answer.text
    deep = client.put(f"/sources/{source}/policy", content="a: " + "[" * 3000 + "]" * 3000)
    assert deep.status_code == 422, deep.text
    assert client.get(f"/sources/{source}/draft").json() == before
    far = client.get(f"/runs/{made['id']}/rows", params={"offset": 10**20})
    assert far.status_code == 422, far.text


def test_a_column_with_a_slash_in_its_name_gets_a_hierarchy(client: httpx.Client) -> None:
    source = added(client, text=CSV.replace("sex", "m/f (%)", 1))
    place = f"/sources/{source}/hierarchies/{quote('m/f (%)', safe='')}"
    whole = client.put(place, params={"name": "sex.csv"}, content="M,any\nF,any\n")
    assert whole.json()["complete"] is True
    assert client.get(place).json()["root"]["label"] == "any"


def test_policies_that_are_not_legal_are_refused_and_the_old_one_stays(
    client: httpx.Client, patients: str
) -> None:
    source = patients
    before = client.get(f"/sources/{source}/policy").text
    for wrong, told in (
        ("a: [b", "not a YAML file"),
        (POLICY.replace("  age:", "  aged:"), "Did you mean 'age'?"),
        (POLICY.replace("k: 4", "k: 1"), "at least 2"),
        (POLICY + "query: select 1\n", "`query:` is for the command line"),
        (POLICY + "spark: {spark.master: local}\n", "`spark:` is for the command line"),
        (POLICY + "engine: spark\n", "for the command line"),
        (POLICY.replace("sex: quasi", "sex: {role: quasi, hierarchy: /etc/passwd}"), "not given"),
        (POLICY.replace("sex: quasi", "sex: {role: quasi, hierarchy: ../x.csv}"), "not given"),
    ):
        answer = client.put(f"/sources/{source}/policy", content=wrong)
        assert answer.status_code == 422, wrong
        assert told in answer.json()["error"]
    assert client.get(f"/sources/{source}/policy").text == before
    elsewhere = POLICY.replace("source: patients.csv", "source: /etc/passwd")
    assert client.put(f"/sources/{source}/policy", content=elsewhere).status_code == 200
    assert client.get(f"/sources/{source}/policy").text == POLICY


def test_the_interface_is_documented(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    assert document["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation["description"], f"{method} {path}"
    page = client.get("/reference")
    assert page.headers["content-type"].startswith("text/html")
    assert "POST /api/v1/sources/{source}/runs" in page.text
    assert "http:" not in page.text
    assert "https:" not in page.text


def test_unknown_things_are_404_and_bad_parameters_422(client: httpx.Client, patients: str) -> None:
    source = patients
    assert client.get("/sources/none").status_code == 404
    assert client.get("/runs/none").status_code == 404
    answer = client.get(f"/sources/{source}/risk", params={"quasi": ["ages"]})
    assert answer.status_code == 422
    assert "Did you mean 'age'?" in answer.json()["error"]
    both = client.get(f"/sources/{source}/risk", params={"quasi": ["age"], "sensitive": ["age"]})
    assert both.status_code == 422
    assert client.get(f"/sources/{source}/rows", params={"rows": 0}).status_code == 422
    assert send(client, "", b"x").status_code == 422
