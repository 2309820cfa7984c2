"""The page: a line of steps on top, one view below it, and the way from one to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui
from nicegui.events import ValueChangeEventArguments

from incrowd.profiling import Profile
from incrowd.serve.pages import _columns as columns
from incrowd.serve.pages import _files as files
from incrowd.serve.pages import _hierarchies as hierarchies
from incrowd.serve.pages import _privacy as privacy
from incrowd.serve.pages import _progress as running
from incrowd.serve.pages import _results as results
from incrowd.serve.pages._navigation import STEPS, Place, StepName
from incrowd.serve.pages._parts import Words
from incrowd.serve.workspace.workspace import Workspace, WorkspaceSource

_VIEWS: dict[StepName, Callable[[Page], None]] = {
    "file": files.show,
    "columns": columns.show,
    "hierarchies": hierarchies.show,
    "privacy": privacy.show,
    "run": running.show,
    "results": results.show,
}


# The heading of a new view gets the focus, unless a person was quicker and is in a field.
_TO_HEADING = """
window.scrollTo(0, 0);
requestAnimationFrame(() => {
  const heading = document.querySelector('main h2'), at = document.activeElement;
  if (heading && (!at || at === document.body || at.closest('.q-stepper__header'))) {
    heading.tabIndex = -1;
    heading.focus({preventScroll: true});
  }
});
"""


class Page:
    """One open page: what it shows follows the workspace and the place, which the server keeps."""

    def __init__(self, workspace: Workspace, upload_limit: int, place: Place) -> None:
        self.workspace = workspace
        self.upload_limit = upload_limit
        self.place = place
        self._boxes: dict[StepName, ui.element] = {}
        self._steps: dict[StepName, ui.step] = {}
        self._changing = False

    @property
    def profile(self) -> Profile:
        """What was found in the open file."""
        found = self.source.profile
        assert found is not None
        return found

    @property
    def source(self) -> WorkspaceSource:
        """The open file; only asked for by views that need one."""
        found = self.place.source(self.workspace)
        assert found is not None
        return found

    def show(self) -> None:
        """Build the frame and the view that is open."""
        self._client = ui.context.client
        with ui.element("main").classes("page"):
            with ui.element("div").classes("top"):
                Words("h1", "incrowd")
                self._name = Words("span").classes("quiet breakable")
            self._stepper = ui.stepper(
                value=self.place.settled(self.workspace), on_value_change=self._chosen
            )
            self._stepper.props("header-nav flat alternative-labels keep-alive=false")
            with self._stepper:
                for number, step in enumerate(STEPS, start=1):
                    made = ui.step(step, title=step.capitalize(), icon="none")
                    made.props(f'prefix="{number}" active-icon="none"')
                    self._steps[step] = made
                    with made:
                        self._boxes[step] = ui.element("div").classes("step-box")
        self._build()

    def go(self, step: StepName) -> None:
        """Open another step, and lead people who use a keyboard or a reader to its heading."""
        self.place.step = step
        self._build()
        self._client.run_javascript(_TO_HEADING)

    def open_source(self, number: str | None) -> None:
        """Open another file, or none, and no run of it yet."""
        self.place.source_id, self.place.run_id = number, None
        self._build()

    def redraw(self) -> None:
        """Show the open view anew."""
        self._build()

    def change(self, draft: dict[str, Any]) -> None:
        """Make this the draft of the open file; tells what is wrong with it as long as it is."""
        problem = self.source.edit(draft)
        if problem is not None:
            ui.notify(
                problem, type="warning", multi_line=True, timeout=10_000, close_button="Close"
            )

    def _chosen(self, event: ValueChangeEventArguments[Any]) -> None:
        """A step of the line was chosen."""
        if not self._changing and event.value != self.place.step and event.value in STEPS:
            self.go(event.value)

    def _build(self) -> None:
        step = self.place.settled(self.workspace)
        source = self.place.source(self.workspace)
        self._name.set_text("anonymize tables of patients" if source is None else source.name)
        reachable = self.place.reachable(self.workspace)
        at = STEPS.index(step)
        for number, each in enumerate(STEPS):
            self._steps[each].set_enabled(each in reachable)
            done = "done" if number < at and each in reachable else "done=false"
            self._steps[each].props(done)
            self._boxes[each].clear()
        self._changing = True
        self._stepper.set_value(step)
        self._changing = False
        with self._boxes[step]:
            _VIEWS[step](self)
