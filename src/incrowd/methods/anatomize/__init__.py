"""Anatomize: groups in which no two records share the sensitive value."""

from incrowd.methods.anatomize._anatomize import anatomize

__all__ = ["anatomize"]
