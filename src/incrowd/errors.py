"""Every error that incrowd raises on purpose, with the exit code the command line gives it.

    IncrowdError
    ├── InputError                  2   bad input or usage
    │   ├── PolicyError                 the policy file is not legal
    │   │   └── UnprotectedError        columns published as they are single records out
    │   ├── SourceError                 a file, frame or database cannot be read as a table
    │   ├── HierarchyError              a hierarchy is not one, or does not cover the data
    │   ├── ParameterError              a parameter has an illegal value
    │   └── OutputError                 the result cannot be written where it was asked for
    ├── PrivacyError                1   the privacy asked for cannot be reached
    ├── VerificationError           1   a release does not keep its promises
    └── EngineError                 3   a party or an engine failed
        └── FederationError             a hospital failed, or a message is not as agreed

No message carries a cell of the data: it names the row, the column and what is wrong.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class IncrowdError(Exception):
    """Root of all errors raised on purpose; `exit_code` is what the command line returns."""

    exit_code = 2


class InputError(IncrowdError):
    """The input cannot be worked with; the message says what to do about it."""


class PolicyError(InputError):
    """A policy is not legal: an unknown key, a wrong type, a contradiction."""


class UnprotectedError(PolicyError):
    """Columns that are published as they are single records out, and nobody accepted that."""


class SourceError(InputError):
    """A source cannot be read as a table of records."""


class HierarchyError(InputError):
    """A hierarchy is malformed or does not cover the values of its column."""


class ParameterError(InputError):
    """A parameter has a value outside its legal range."""


class OutputError(InputError):
    """The result cannot be written where it was asked for."""


class PrivacyError(IncrowdError):
    """The privacy asked for cannot be reached; the message says the best that can."""

    exit_code = 1


class VerificationError(IncrowdError):
    """A release does not keep one of its promises."""

    exit_code = 1


class EngineError(IncrowdError):
    """A party or an engine failed; nothing was written."""

    exit_code = 3


class FederationError(EngineError):
    """A run among hospitals stopped; the message names the hospital and the cause."""


def nearest(name: str, legal: Iterable[str]) -> str:
    """Return " Did you mean 'x'?" for the legal name nearest to `name`, or an empty string.

    Of an attribute of linked tables, `table.column`, the column may have been named alone.
    """
    names, asked = [str(each) for each in legal], str(name).casefold()
    matches = [each for each in names if each.casefold() == asked]
    matches += [each for each in names if each.partition(".")[2].casefold() == asked != ""]
    matches += difflib.get_close_matches(str(name), names, n=1, cutoff=0.6)
    return f" Did you mean '{matches[0]}'?" if matches else ""


def place_in_package(error: BaseException) -> str:
    """The module and line of the package where an error arose, without the values involved."""
    place, traceback = "unknown", error.__traceback__
    while traceback is not None:
        module = traceback.tb_frame.f_globals.get("__name__", "")
        if module.startswith("incrowd"):
            place = f"{module}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return place
