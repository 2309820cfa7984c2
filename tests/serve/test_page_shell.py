"""The page as it is sent: a strict content security policy, and nothing that it would refuse."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

pytest.importorskip("nicegui", reason="the page needs the extra incrowd[serve]")

import httpx
from browser import serving

from incrowd.serve.pages._shell import STYLE, NoncedTemplates

OPENING = {"sec-fetch-site": "none", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}


def test_a_page_needs_nothing_that_its_policy_refuses(tmp_path: Path) -> None:
    seen = set()
    with serving(tmp_path) as server:
        token = parse_qs(urlsplit(server.door).query)["token"][0]
        headers = {**OPENING, "authorization": f"Bearer {token}"}
        replies = [httpx.get(server.address, headers=headers) for _ in range(2)]
        own = {"authorization": f"Bearer {token}", "sec-fetch-site": "same-origin"}
        style = httpx.get(server.address.rstrip("/") + STYLE, headers=own)
    assert "url(" not in style.text
    assert "@import" not in style.text
    for reply in replies:
        page, policy = reply.text, reply.headers["content-security-policy"]
        assert len(reply.headers.get_list("content-security-policy")) == 1
        directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        nonce = re.search(r"'nonce-([\w-]+)'", policy)
        assert nonce is not None
        seen.add(nonce[1])
        assert directives["default-src"] == "'none'"
        assert directives["script-src"] == f"'self' 'nonce-{nonce[1]}' 'unsafe-eval'"
        assert directives["style-src"] == f"'self' 'nonce-{nonce[1]}'"
        assert "unsafe-inline" not in policy
        assert "*" not in policy
        tags = re.findall(r"<(?:script|style)\b[^>]*>", page)
        assert len(tags) > 5
        assert all(f'nonce="{nonce[1]}"' in tag for tag in tags)
        assert re.search(r"<\w+[^>]*\sstyle=", page) is None
        assert re.search(r"""(?:src|href)=["'](?:https?:)?//""", page) is None
    assert len(seen) == 2
    assert [path.name for path in tmp_path.iterdir()] == []


def test_a_page_template_of_another_shape_is_refused() -> None:
    from jinja2 import DictLoader, Environment

    other = NoncedTemplates(DictLoader({"index.html": "<html></html>", "x.html": "<script>"}))
    with pytest.raises(RuntimeError, match="page template unknown"):
        other.get_source(Environment(autoescape=True), "index.html")
    assert other.get_source(Environment(autoescape=True), "x.html")[0] == "<script>"
