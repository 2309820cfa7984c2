"""A field to drop a file on, or to choose one: it streams straight to the HTTP interface.

The file never passes through the page's own memory, and what the interface says about a bad file
is shown as it is.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, Literal

from nicegui import ui
from nicegui.events import GenericEventArguments

from incrowd.serve.pages._parts import Words

_OPEN = "(event) => getElement({id}).$refs.qRef.pickFiles(event)"
_SEND = (
    "(files) => ({{url: {address} + '&name=' + encodeURIComponent(files[0].name), "
    "method: {method}, sendRaw: true}})"
)
ANSWER = "(info) => emit({status: info.xhr.status, text: info.xhr.responseText})"
_UNREACHED = "The server did not answer. Is it still running? Then try again."


def drop_field(
    *,
    address: str,
    method: Literal["POST", "PUT"] = "POST",
    label: str,
    accept: str,
    limit: int,
    arrived: Callable[[dict[str, Any]], Awaitable[None] | None],
    refused: Callable[[str], None],
) -> None:
    """A field for one file.

    Parameters
    ----------
    address, method
        Where the file is sent to, as it is; its name is added to the address.
    label
        What the field says.
    accept
        The endings that the browser's dialog offers.
    limit
        The largest file, in bytes.
    arrived
        Takes the reply of the interface.
    refused
        Takes the reason, in words.
    """
    field = ui.upload(auto_upload=True, max_file_size=limit)
    field.props(f'flat bordered accept="{accept}"')
    field.props[":factory"] = _SEND.format(address=json.dumps(address), method=json.dumps(method))
    add_chooser(field, label, "Choose a file")

    async def done(event: GenericEventArguments) -> None:
        field.reset()
        waiting = arrived(json.loads(event.args["text"]))
        if isawaitable(waiting):
            await waiting

    def failed(event: GenericEventArguments) -> None:
        field.reset()
        refused(words_of(event.args["text"]))

    field.on("uploaded", done, js_handler=ANSWER)
    field.on("failed", failed, js_handler=ANSWER)
    field.on_rejected(lambda: refused(too_large_words(limit, accept)))


def add_chooser(field: ui.upload, label: str, words: str) -> None:
    """Say on a field what it is for, beside a button that opens the browser's dialog."""
    with field.add_slot("header"), ui.element("div").classes("line q-pa-md"):
        Words("div", label).classes("grow")
        chooser = ui.button(words, icon="upload_file").props("unelevated")
        chooser.on("click", js_handler=_OPEN.format(id=field.id))
        with chooser:
            ui.element("q-uploader-add-trigger")


def too_large_words(limit: int, accept: str) -> str:
    """Why a browser does not even send a file."""
    return (
        f"This file cannot be taken: it is larger than {limit / 1e6:,.0f} MB, or its "
        f"name ends with none of {accept.replace(',', ', ')}."
    )


def words_of(reply: str) -> str:
    """The reason in a reply of the interface; replies from elsewhere have none."""
    try:
        told = json.loads(reply)
    except ValueError:
        return _UNREACHED
    found = told.get("error", told.get("detail")) if isinstance(told, dict) else None
    if isinstance(found, dict):
        found = found.get("message")
    return found if isinstance(found, str) and found else _UNREACHED
