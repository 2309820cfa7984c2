"""NiceGUI under our rules: its template with nonces, its style from a file, a strict policy.

NiceGUI needs one loosening of a strict content security policy: its components bring templates
that Vue compiles in the browser, so scripts may evaluate text (`'unsafe-eval'`). Everything else
can be strict, by three small changes made here:

- each `<script>` and `<style>` of its page template carries the nonce of the request. Only tags
  of the template itself get one, never what a page puts into it;
- its runtime compiler of style classes stays off (`tailwind=False`), and our style sheet is a file
  of the package, served from here;
- one inline `style` attribute is written as `hidden`, one empty `<style>` left out.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import BaseLoader, Environment

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

STYLE = "/assets/style.css"
"""Where the style sheet of the pages is served."""

_POLICY = (
    "default-src 'none'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; "
    "style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; frame-ancestors 'none'; form-action 'self'; base-uri 'none'"
)
_TAGS = re.compile(r"<(script|style)\b")
_NONCE = r'<\1 nonce="{{ request.state.nonce }}"'
_CHANGES = (
    ('id="nicegui-keep-alive-cache" style="display: none"', 'id="nicegui-keep-alive-cache" hidden'),
    ("{{ body_html | safe }}", '{{ body_html.replace("<style></style>", "") | safe }}'),
)


class NoncedTemplates(BaseLoader):
    """A loader of templates that gives every inline script and style the nonce of the request."""

    def __init__(self, inner: BaseLoader) -> None:
        self.inner = inner

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str | None, Callable[[], bool] | None]:
        """The template with nonces; a template that has changed its shape is refused."""
        source, path, is_current = self.inner.get_source(environment, template)
        if template != "index.html":
            return source, path, is_current
        source = _TAGS.sub(_NONCE, source)
        for written, wanted in _CHANGES:
            if written not in source:
                raise RuntimeError("This version of NiceGUI has a page template unknown to us.")
            source = source.replace(written, wanted)
        return source, path, is_current


def prepare() -> None:
    """Make NiceGUI's template and replies fit our rules; twice does no harm."""
    from nicegui import client, core

    env = client.templates.env
    if env.loader is not None and not isinstance(env.loader, NoncedTemplates):
        env.loader = NoncedTemplates(env.loader)
    if core.app.middleware_stack is None:
        core.app.add_middleware(ContentPolicy)


def serve_style(app: FastAPI) -> None:
    """Serve the style sheet of the pages from the package."""
    from fastapi.responses import FileResponse

    @app.get(STYLE, include_in_schema=False)
    def style() -> FileResponse:
        return FileResponse(Path(__file__).parent / "style.css", media_type="text/css")


class ContentPolicy:
    """Around NiceGUI: a nonce for each request, and the content security policy that names it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass with a nonce, and its reply with the policy."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        nonce = secrets.token_urlsafe(16)
        scope.setdefault("state", {})["nonce"] = nonce

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                policy = _POLICY.format(nonce=nonce).encode("ascii")
                headers = [*message.get("headers", []), (b"content-security-policy", policy)]
                message = {**message, "headers": headers}
            await send(message)

        await self.app(scope, receive, sent)
