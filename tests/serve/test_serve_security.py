"""Who is let in: only who knows the token, from our own page, under our own name."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from running_server import API, CSV, Served, added, ended, serving
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from incrowd.errors import ParameterError
from incrowd.serve.http.security import Guard, Settings


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("door"), "--allow-host", "data.hospital.org") as running:
        yield running


@pytest.fixture
def stranger(served: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=served.address, timeout=600) as client:
        yield client


PATHS = ("/", f"{API}/status", f"{API}/sources", f"{API}/openapi.json", "/_nicegui/x.js", "/none")


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_served_without_the_token(stranger: httpx.Client, path: str) -> None:
    assert stranger.get(path).status_code == 401
    wrong = {"Authorization": "Bearer " + "x" * 43}
    assert stranger.get(path, headers=wrong).status_code == 401
    assert stranger.get(path, params={"token": "x" * 43}).status_code == 401
    assert stranger.post(path, headers=wrong).status_code == 401


def test_the_address_with_the_token_gives_a_cookie_and_hides_the_token(
    stranger: httpx.Client, served: Served
) -> None:
    answer = stranger.get("/", params={"token": served.token, "run": "7"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?run=7"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "Secure" not in cookie
    assert stranger.get(f"{API}/status").status_code == 200
    behind = {"X-Forwarded-Proto": "https"}
    over_tls = stranger.get("/", params={"token": served.token}, headers=behind)
    assert "; Secure" in over_tls.headers["set-cookie"]


def test_a_wrong_cookie_and_a_malformed_one_are_refused(stranger: httpx.Client) -> None:
    port = stranger.base_url.port
    for cookie in (f"incrowd-{port}=wrong", f"incrowd-{port}", "=;;", f'incrowd-{port}="'):
        assert stranger.get(f"{API}/status", headers={"Cookie": cookie}).status_code == 401


def test_the_cookie_is_found_among_those_of_other_servers(
    stranger: httpx.Client, served: Served
) -> None:
    own = f"incrowd-{stranger.base_url.port}={served.token}"
    cookies = f'odd={{"a": [1, 2]}}; broken"; {own}; last=1'
    assert stranger.get(f"{API}/status", headers={"Cookie": cookies}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "file://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_another_site_is_refused_even_with_the_token(
    served: Served, headers: dict[str, str]
) -> None:
    with served.client(headers=headers) as client:
        assert client.get("/status").status_code == 403
        assert client.post("/sources/demo").status_code == 403
    with served.client() as client:
        assert client.get("/sources").json() == []


def test_our_own_page_and_typed_addresses_are_let_in(served: Served) -> None:
    origin = served.address.rstrip("/")
    for headers in (
        {"Origin": origin, "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"},
        {},
    ):
        with served.client(headers=headers) as client:
            assert client.get("/status").status_code == 200


def test_a_link_elsewhere_leads_in_with_the_token_only(
    stranger: httpx.Client, served: Served
) -> None:
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    with_token = stranger.get("/", params={"token": served.token}, headers=link)
    assert with_token.status_code == 303
    assert stranger.get("/", headers=link).status_code == 403
    picture = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    hidden = stranger.get("/", params={"token": served.token}, headers=picture)
    assert hidden.status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil:80"])
def test_another_name_of_the_host_is_refused(served: Served, host: str) -> None:
    with served.client(headers={"Host": host}) as client:
        answer = client.get("/status")
        assert answer.status_code == 421
        assert "--allow-host" in answer.json()["error"]


def test_names_that_were_allowed_are_answered_to(served: Served) -> None:
    port = urlsplit(served.address).port
    for host in (f"localhost:{port}", "data.hospital.org", f"DATA.hospital.org:{port}"):
        with served.client(headers={"Host": host}) as client:
            assert client.get("/status").status_code == 200
        proxied = {"Host": host, "Origin": f"https://{host}", "Sec-Fetch-Site": "same-origin"}
        with served.client(headers=proxied) as client:
            assert client.get("/status").status_code == 200


@pytest.mark.parametrize(
    ("origin", "token"), [("http://evil.example", True), (None, True), ("own", False)]
)
def test_websockets_without_our_origin_or_the_token_are_refused(
    served: Served, origin: str | None, token: bool
) -> None:
    own = served.address.rstrip("/")
    url = own.replace("http:", "ws:") + "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    headers = {"Authorization": f"Bearer {served.token}"} if token else {}
    with (
        pytest.raises(InvalidStatus) as refused,
        connect(url, origin=own if origin == "own" else origin, additional_headers=headers),  # type: ignore[arg-type]
    ):
        pass
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize(
    ("change", "passes"),
    [
        ({}, True),
        ({b"origin": b"http://evil.example"}, False),
        ({b"origin": None}, False),
        ({b"host": b"evil.example"}, False),
        ({b"cookie": b"incrowd-8765=wrong"}, False),
        ({b"cookie": None}, False),
        ({b"sec-fetch-site": b"cross-site"}, False),
    ],
)
def test_the_door_lets_only_our_own_websockets_through(
    change: dict[bytes, bytes | None], passes: bool
) -> None:
    settings = Settings()
    given: dict[bytes, bytes | None] = {
        b"host": b"127.0.0.1:8765",
        b"origin": b"http://127.0.0.1:8765",
        b"cookie": f"incrowd-8765={settings.token}".encode(),
        **change,
    }
    headers = [(name, value) for name, value in given.items() if value is not None]
    scope = {"type": "websocket", "path": "/x", "query_string": b"", "headers": headers}
    seen: list[str] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        seen.append("passed")

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        seen.append(message["type"])

    asyncio.run(Guard(inner, settings)(scope, receive, send))
    assert seen == (["passed"] if passes else ["websocket.close"])


def test_every_reply_has_the_headers_that_protect_it(
    served: Served, stranger: httpx.Client
) -> None:
    with served.client() as client:
        replies = [
            client.get("/status"), client.get("/none"), client.get("/openapi.json"),
            client.get("/reference"), stranger.get("/"), client.post("/sources?name=a.csv"),
            client.options("/status", headers={"Access-Control-Request-Method": "POST"}),
        ]  # fmt: skip
    for reply in replies:
        headers = reply.headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; connect-src 'self'; frame-ancestors 'none'")
        assert "'unsafe-inline'" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


def test_neither_token_nor_cell_reaches_the_log(served: Served, stranger: httpx.Client) -> None:
    cell = "Wx9Secret"
    stranger.get("/", params={"token": served.token})
    with served.client() as client:
        source = added(client, "marked.csv", CSV.replace("Ulcer", cell))
        client.put(f"/sources/{source}/policy", content=f"privacy: [{cell}]")
        wrong = {"attributes": {"age": {"role": "quasi", "type": "date"}}, "other": "keep",
                 "privacy": [{"k-anonymity": {"k": 2}}]}  # fmt: skip
        assert client.put(f"/sources/{source}/draft", json=wrong).status_code == 200
        failed = ended(client, client.post(f"/sources/{source}/runs").json()["id"])
        assert failed["state"] == "failed"
        assert "are not a date" in failed["message"]
        assert cell not in json.dumps(failed)
        client.get(f"/sources/{source}/risk", params={"quasi": ["age"]})
        client.delete(f"/sources/{source}")
    assert served.said() == ""


def test_settings_refuse_weak_tokens_and_open_hosts_without_a_name() -> None:
    with pytest.raises(ParameterError, match="at least 32"):
        Settings(token="short")
    with pytest.raises(ParameterError, match="--allow-host"):
        Settings(host="0.0.0.0")
    for wrong in ("http://x.org", "a/b", "x.org:port", ""):
        with pytest.raises(ParameterError, match="give the name alone"):
            Settings(allowed_hosts=(wrong,))
    for right in ("x.org:8443", "localhost", "[::1]:80", "10.0.0.1"):
        assert Settings(allowed_hosts=(right,)).allowed_hosts == (right,)
    assert Settings(host="0.0.0.0", allowed_hosts=("a.org",)).address == "http://a.org:8765/"
    assert Settings(host="::1").address == "http://[::1]:8765/"
    assert Settings(host="::1").is_allowed_host("[::1]:8765")
    assert "token" not in repr(Settings())
    assert Settings().token != Settings().token
