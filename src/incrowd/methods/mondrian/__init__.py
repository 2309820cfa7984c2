"""Mondrian: groups by cutting the table again and again, as long as both halves stay private."""

from incrowd.methods.mondrian._mondrian import mondrian

__all__ = ["mondrian"]
