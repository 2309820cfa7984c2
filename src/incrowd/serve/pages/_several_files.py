"""The field for new files: one is sent at once; of several a person says what they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments

from incrowd.serve.pages._addresses import linked_source, new_source
from incrowd.serve.pages._dropping import ANSWER, add_chooser, too_large_words, words_of
from incrowd.serve.pages._parts import Words

_QUEUED = """() => {{
  const field = getElement({id}).$refs.qRef, names = field.queuedFiles.map((file) => file.name);
  if (names.length === 1) field.upload();
  emit(names);
}}"""
_SEND = """() => {{
  const field = getElement({id});
  field.$el.dataset.together = '{together}';
  field.$refs.qRef.upload();
  emit();
}}"""
_FORGET = "() => {{ getElement({id}).$refs.qRef.reset(); emit(); }}"
_TOGETHER = "() => getElement({id}).$el.dataset.together === 'true'"
_ADDRESS = """(files) => files.length > 1
  ? {{url: {linked}, method: 'POST', fieldName: 'file'}}
  : {{url: {alone} + '&name=' + encodeURIComponent(files[0].name), method: 'POST',
      sendRaw: true}}"""


class FilesField:
    """A field for files: each alone becomes a source, or all of them together.

    Parameters
    ----------
    header
        What is known of their first lines.
    accept
        The endings that the browser's dialog offers.
    limit
        The most bytes of one upload.
    arrived
        Takes the reply of the interface for the last of the sources, once all are sent.
    refused
        Takes the reasons why files were not taken, in words.
    """

    def __init__(
        self,
        *,
        header: bool | None,
        accept: str,
        limit: int,
        arrived: Callable[[dict[str, Any]], None],
        refused: Callable[[str], None],
    ) -> None:
        self._arrived, self._refused = arrived, refused
        self._replies: list[dict[str, Any]] = []
        self._reasons: list[str] = []
        field = self._field = ui.upload(multiple=True, max_file_size=limit)
        field.props(f'flat bordered accept="{accept}"')
        field.props[":batch"] = _TOGETHER.format(id=field.id)
        field.props[":factory"] = _ADDRESS.format(
            linked=json.dumps(linked_source(header)), alone=json.dumps(new_source(header))
        )
        add_chooser(
            field,
            "Drop a file here: CSV, TSV or Parquet. Or several at once: a table of patients "
            "and tables of their visits, diagnoses, drugs.",
            "Choose files",
        )
        self._choice = ui.element("div").classes("wide choice")
        for event in ("added", "removed"):
            field.on(event, self._queued, js_handler=_QUEUED.format(id=field.id))
        field.on("uploaded", self._taken, js_handler=ANSWER)
        field.on("failed", self._not_taken, js_handler=ANSWER)
        field.on("finish", self._finished)
        field.on_rejected(lambda: refused(too_large_words(limit, accept)))

    def _queued(self, event: GenericEventArguments) -> None:
        """Ask what several files are; one is on its way already."""
        names = list(event.args or [])
        self._choice.clear()
        if len(names) < 2:
            return
        with self._choice, ui.element("div").classes("told").props('role="status"'):
            ui.icon("help").props('role="img" aria-label="Question"')
            with ui.element("div").classes("view"):
                Words("p", f"What are these {len(names):,} files?").classes("strong")
                with ui.element("div").classes("line"):
                    self._button(
                        "These are tables of the same patients", "hub", _SEND, together="true"
                    ).props("unelevated")
                    self._button("Separate files", "description", _SEND, together="false").props(
                        "outline"
                    )
                    self._button("Take none", "close", _FORGET).props("flat")

    def _button(self, text: str, icon: str, script: str, **given: str) -> ui.button:
        """A button that does its work in the browser, and then takes the question away."""
        made = ui.button(text, icon=icon)
        script = script.format(id=self._field.id, **given)
        made.on("click", lambda: self._choice.clear(), js_handler=script)
        return made

    def _taken(self, event: GenericEventArguments) -> None:
        self._replies.append(json.loads(event.args["text"]))

    def _not_taken(self, event: GenericEventArguments) -> None:
        self._reasons.append(words_of(event.args["text"]))

    def _finished(self) -> None:
        """Tell what became of the files, once none is on its way any more."""
        replies, reasons = self._replies, self._reasons
        self._replies, self._reasons = [], []
        self._field.reset()
        for reason in reasons:
            if replies:  # the view is about to change
                ui.notify(reason, type="negative", multi_line=True, close_button="Close")
        if replies:
            self._arrived(replies[-1])
        elif reasons:
            self._refused("\n".join(dict.fromkeys(reasons)))
