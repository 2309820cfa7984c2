"""Research value: every attribute at the level that keeps most of what a researcher wants of it."""

from incrowd.methods.research_value._research_value import Alternative, alternatives, research_value

__all__ = ["Alternative", "alternatives", "research_value"]
