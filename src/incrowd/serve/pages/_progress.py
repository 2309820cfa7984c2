"""Step 5, the run: what will be done, its progress, and a button that stops it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from nicegui import run, ui

from incrowd._runtime.sentences import listed
from incrowd._runtime.unchanged import promised_in, unchanged
from incrowd.errors import IncrowdError
from incrowd.policy.naming import completed
from incrowd.privacy import MODELS
from incrowd.serve.pages._editing import columns_of, method_of, privacy_of, role_of, said_of
from incrowd.serve.pages._parts import Words, cell, ends, notice, panel, table, view
from incrowd.serve.pages._policy_text import policy_panel
from incrowd.serve.pages._unit_choice import unit_words
from incrowd.serve.workspace.attributes import Draft, asked_of

if TYPE_CHECKING:
    from incrowd.serve.pages._page import Page
    from incrowd.serve.workspace.workspace import Run

_EVERY = 0.25
_UNDER_WAY = ("waiting", "running")


def show(page: Page) -> None:
    """Build the view of the run."""
    current = page.place.run(page.workspace)
    with view("Make the release", "It is checked from its own files before you can download it."):
        _plan(page)
        if current is not None and current.state in _UNDER_WAY:
            _RunningPanel(page, current)
            return
        if current is not None and current.state == "failed":
            notice("bad", current.message)
        if current is not None and current.state == "cancelled":
            notice("info", f"Run {current.number} was cancelled. Nothing of it was kept.")
        if page.source.problem is not None:
            notice("bad", page.source.problem)
        done = any(each.state == "done" for each in page.place.runs(page.workspace))
        _start(page, ask=current is not None and current.unprotected)
        policy_panel(page)
        ends(
            lambda: page.go("privacy"),
            (lambda: page.go("results")) if done else None,
            "Results so far",
        )


def _plan(page: Page) -> None:
    """What the run promises and how, in sentences."""
    draft, names, one = page.source.draft, page.source.columns, page.source.one
    hidden = columns_of(draft, names, "identifier")
    quasi = columns_of(draft, names, "quasi")
    with panel("What will be done"):
        for model, entry in privacy_of(draft):
            Words("p", said_of(one, MODELS[model].sentence(entry))).classes("sentence")
        left = f" {listed(hidden, quoted=False)} will not be published." if hidden else ""
        Words(
            "p",
            f"Generalized: {listed(quasi, quoted=False) or 'nothing'}.{left} "
            f"Method: {method_of(draft)}. Published: {draft.get('publish', 'generalized')}.",
        ).classes("quiet breakable")
        Words("p", unit_words(draft)).classes("quiet breakable")
        _as_they_are(draft, names, one)


def _as_they_are(draft: Draft, names: Sequence[str], one: str) -> None:
    """The columns that the run would publish unchanged, each with the reason."""
    asked = {name: asked_of(draft, name) for name in names}
    changed = [name for name, each in asked.items() if isinstance(each, Mapping) and "time" in each]
    roles = [(name, role_of(draft, name)) for name in names if name not in changed]
    promised = promised_in(entry for _, entry in privacy_of(completed(draft)))
    found = unchanged(roles, str(draft.get("publish", "generalized")), promised)
    if found:
        with table(["Published as it is", "Why"], classes="cards"):
            for each in found:
                with ui.element("tr"):
                    cell(each.column, head=True)
                    cell(said_of(one, each.why), "Why")
    else:
        Words("p", "No column is published as it is.").classes("quiet")


def _start(page: Page, *, ask: bool) -> None:
    """The button that begins; where columns single records out, with a box to accept that."""

    async def start() -> None:
        button.disable()
        begin = partial(
            page.workspace.start,
            page.source.id,
            accept_unprotected=accepted is not None and bool(accepted.value),
        )
        try:
            made = await run.io_bound(begin)
        except IncrowdError as error:
            ui.notify(str(error), type="negative", multi_line=True, close_button="Close")
            button.enable()
            return
        assert made is not None
        page.place.run_id = made.id
        page.redraw()

    accepted = None
    if ask:
        accepted = ui.checkbox(
            f"I accept that columns published as they are single {page.source.one}s "
            "out (--accept-unprotected)."
        )
    with ui.element("div"):
        button = ui.button("Start", icon="play_arrow", on_click=start).props("unelevated size=lg")
    button.set_enabled(page.source.problem is None)


class _RunningPanel:
    """A run under way: its stage, a bar, and a button to cancel."""

    def __init__(self, page: Page, current: Run) -> None:
        self._page, self._run = page, current
        with panel(f"Run {current.number}"):
            self._stage = Words("p").props('role="status"')
            self._bar = ui.linear_progress(show_value=False, size="14px").props("rounded")
            self._bar.props["aria-label"] = f"Progress of run {current.number}"
            self._time = Words("p").classes("quiet small")
            with ui.element("div"):
                self._stop = ui.button("Cancel", icon="stop", on_click=self._cancel)
                self._stop.props("outline")
        ui.timer(_EVERY, self._look)
        self._tell()

    def _tell(self) -> None:
        current = self._run
        waiting = current.state == "waiting"
        self._stage.set_text(
            "Waiting until other runs have ended …"
            if waiting
            else f"{current.stage.capitalize()} …"
        )
        known = current.whole > 1 and not waiting
        self._bar.props("indeterminate=false" if known else "indeterminate")
        self._bar.set_value(min(current.done / current.whole, 1) if known else 0)
        self._time.set_text(f"{current.seconds:.0f} s")

    def _look(self) -> None:
        if self._run.state in _UNDER_WAY:
            self._tell()
        elif self._run.state == "done":
            self._page.go("results")
        else:
            self._page.redraw()

    async def _cancel(self) -> None:
        self._stop.disable()
        self._stage.set_text("Cancelling …")
        await run.io_bound(self._run.cancel)
