"""The page and its HTTP interface: from a file to a release, on one's own machine."""

from incrowd.serve.workspace.runs import Rows, Run
from incrowd.serve.workspace.sources import NotReadyError, WorkspaceSource
from incrowd.serve.workspace.trees import Coverage, Node, Tree
from incrowd.serve.workspace.workspace import TooLargeError, UnknownError, Workspace

__all__ = [
    "Coverage",
    "Node",
    "NotReadyError",
    "Rows",
    "Run",
    "TooLargeError",
    "Tree",
    "UnknownError",
    "Workspace",
    "WorkspaceSource",
]
