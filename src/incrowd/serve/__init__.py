"""The page and its HTTP interface: from a file to a release, on one's own machine."""

from incrowd.serve.runs import Rows, Run
from incrowd.serve.sources import NotReadyError, Source
from incrowd.serve.trees import Coverage, Node, Tree
from incrowd.serve.workspace import TooLargeError, UnknownError, Workspace

__all__ = [
    "Coverage",
    "Node",
    "NotReadyError",
    "Rows",
    "Run",
    "Source",
    "TooLargeError",
    "Tree",
    "UnknownError",
    "Workspace",
]
