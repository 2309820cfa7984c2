"""Files that are no tables, and files that are too large, are refused and not kept."""

import io
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import polars as pl
import pytest
from running_server import CSV, Served, added, send, serving, soon, studied

LIMIT = 3_000_000
SECRET = "Zq7Secret"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("files")
    with serving(folder, "--upload-limit", "3MB") as running:
        yield running
        assert SECRET not in running.said()


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    with served.client() as found:
        yield found


def kept(served: Served) -> list[Path]:
    [workspace] = served.workspaces()
    return list((workspace / "sources").iterdir())


BAD = {
    "empty": ("a.csv", b"", "is empty"),
    "ragged": ("a.csv", f"a,b\n1,{SECRET}\n1,2,3\n".encode(), "line 3: 3 cells"),
    "a workbook": ("a.csv", b"PK\x03\x04" + b"[Content_Types].xml" * 9, "Excel workbook"),
    "an ending": ("a.exe", b"a,b\n1,2\n", "the ending .exe"),
    "no ending": ("table", b"a,b\n1,2\n", "no ending"),
    "no Parquet": ("a.parquet", f"a,b\n1,{SECRET}\n".encode(), "a.parquet"),
    "few records": ("a.csv", b"a,b\n1,2\n2,3\n", "at least 4"),
}
"""One for each place that refuses: on arrival, by either reader, by what is drafted of it."""


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_with_the_reason_and_not_kept(
    case: str, client: httpx.Client, served: Served
) -> None:
    name, content, told = BAD[case]
    answer = send(client, name, content)
    assert answer.status_code == 422, answer.text
    assert told in answer.json()["error"]
    assert SECRET not in answer.text
    assert client.get("/sources").json() == []
    assert kept(served) == []


def test_a_file_is_read_as_was_said(client: httpx.Client) -> None:
    records = CSV.replace("Flu", "R\u00f6teln").split("\n", 1)[1].encode("latin-1")
    refused = send(client, "a.csv", records, encoding="latin-1")
    assert refused.status_code == 422
    assert "header: false" in refused.json()["error"]
    answer = send(client, "a.csv", records, encoding="latin-1", header="false")
    assert answer.status_code == 201, answer.text
    source = answer.json()["id"]
    assert studied(client, answer.json())["records"] == 400
    shown = client.get(f"/sources/{source}/rows").json()
    assert (shown["columns"][0], shown["rows"][0][3]) == ("column_1", "R\u00f6teln")
    policy = client.get(f"/sources/{source}/policy").text
    assert "encoding: latin-1" in policy
    assert "header: false" in policy
    client.delete(f"/sources/{source}")


def test_parquet_and_compressed_files_are_taken(client: httpx.Client) -> None:
    import gzip

    frame = pl.read_csv(io.StringIO(CSV))
    parquet = io.BytesIO()
    frame.write_parquet(parquet)
    for name, content in (
        ("a.parquet", parquet.getvalue()),
        ("a.tsv.gz", gzip.compress(CSV.replace(",", "\t").encode())),
    ):
        answer = send(client, name, content)
        assert answer.status_code == 201, answer.text
        assert studied(client, answer.json())["records"] == 400
        client.delete(f"/sources/{answer.json()['id']}")


def test_names_cannot_lead_out_of_the_workspace(client: httpx.Client, served: Served) -> None:
    answer = send(client, "..\\../../evil.csv", CSV.encode())
    assert answer.status_code == 201
    assert answer.json()["name"] == "evil.csv"
    [folder] = kept(served)
    assert (folder / "evil.csv").is_file()
    client.delete(f"/sources/{answer.json()['id']}")
    assert list(served.temporary.rglob("evil.csv")) == []


def test_a_file_over_the_limit_is_refused_by_its_stated_size(
    client: httpx.Client, served: Served
) -> None:
    answer = send(client, "large.csv", b"x" * (LIMIT + (2 << 20)))
    assert answer.status_code == 413
    assert "MB" in answer.json()["error"]
    assert kept(served) == []


def test_a_file_over_the_limit_is_refused_while_it_streams(
    client: httpx.Client, served: Served
) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        yield b"a,b\n"
        while sent < 400_000_000:
            sent += 100_000
            yield b"1,2\n" * 25_000

    try:
        answer = send(client, "large.csv", endless())
    except httpx.TransportError:
        pass  # the server hung up before all was sent
    else:
        assert answer.status_code == 413
        assert "--upload-limit" in answer.json()["error"]
    assert sent < 100_000_000
    assert kept(served) == []


def test_a_hierarchy_or_a_policy_that_is_too_large_is_refused(client: httpx.Client) -> None:
    source = added(client)
    answer = client.put(f"/sources/{source}/policy", content=b"#" * (2 << 20))
    assert answer.status_code == 413
    answer = client.put(f"/sources/{source}/draft", content=b" " * (2 << 20))
    assert answer.status_code == 413
    answer = client.put(f"/sources/{source}/hierarchies/sex", content=b"x" * (65 << 20))
    assert answer.status_code == 413
    client.delete(f"/sources/{source}")


def test_an_upload_that_breaks_off_leaves_nothing(client: httpx.Client, served: Served) -> None:
    host, port = str(client.base_url.host), client.base_url.port
    assert port is not None
    request = (
        f"POST /api/v1/sources?name=half.csv HTTP/1.1\r\nHost: {host}:{port}\r\n"
        f"Authorization: Bearer {served.token}\r\nContent-Length: 2000000\r\n\r\na,b\n"
    )
    with socket.create_connection((host, port)) as line:
        line.sendall(request.encode())
        soon(lambda: kept(served) != [])
    soon(lambda: kept(served) == [])
    assert client.get("/sources").json() == []
    assert served.said() == ""
