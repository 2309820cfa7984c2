"""The command line: parses, calls, prints. Nothing imports it."""

from incrowd.cli._exit_codes import main

__all__ = ["main"]
