"""Incognito: every attribute at one level of its hierarchy, the best such table there is."""

from incrowd.methods.incognito._incognito import incognito, minimal_solutions

__all__ = ["incognito", "minimal_solutions"]
