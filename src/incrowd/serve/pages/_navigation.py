"""Where a person is: the file, the step and the run that are open. Kept by the server.

A reload, another tab or another browser with the same address shows the same place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from incrowd.serve.workspace.workspace import Run, Workspace, WorkspaceSource

StepName = Literal["file", "columns", "hierarchies", "privacy", "run", "results"]
STEPS: tuple[StepName, ...] = get_args(StepName)


@dataclass
class Place:
    """The open file, step and run of a server."""

    step: StepName = "file"
    source_id: str | None = None
    run_id: str | None = None

    def source(self, workspace: Workspace) -> WorkspaceSource | None:
        """The open file, while it is there."""
        found = (each for each in workspace.sources if each.id == self.source_id)
        return next(found, None)

    def run(self, workspace: Workspace) -> Run | None:
        """The open run, or else the latest of the open file."""
        runs = self.runs(workspace)
        chosen = [each for each in runs if each.id == self.run_id]
        return next(iter(chosen or runs[-1:]), None)

    def runs(self, workspace: Workspace) -> list[Run]:
        """The runs of the open file, the first one first."""
        return [each for each in workspace.runs if each.source.id == self.source_id]

    def reachable(self, workspace: Workspace) -> set[StepName]:
        """The steps that make sense now."""
        source = self.source(workspace)
        if source is None or source.state != "ready":
            return {"file"}
        steps: set[StepName] = {"file", "columns", "hierarchies", "privacy", "run"}
        if any(run.state == "done" for run in self.runs(workspace)):
            steps.add("results")
        return steps

    def settled(self, workspace: Workspace) -> StepName:
        """The step to show: the one that is open, or the first one if that makes no sense now."""
        if self.step not in self.reachable(workspace):
            self.step = "file"
        return self.step
