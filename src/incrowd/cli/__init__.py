"""The command line: parses, calls, prints. Nothing imports it."""

from incrowd.cli.running import main

__all__ = ["main"]
