"""Top-down local recoding: all records start under one label and are specialized, node by node."""

from incrowd.methods.top_down_local._top_down_local import top_down_local

__all__ = ["top_down_local"]
