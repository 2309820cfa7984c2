"""Patterns: what recursive partitioning finds in a table or a release, and what survives."""
