"""incrowd: turn tables of patients into data that may be shared.

The public names and rooms below are loaded when they are first used, so that importing the package,
and starting the command line, costs next to nothing. `verify` alone is loaded at once: it is also
the name of its room, and the room's name must not take the function's place.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from incrowd._version import __version__
from incrowd.verify import verify

if TYPE_CHECKING:
    from incrowd import attacks as attacks
    from incrowd import comparison as comparison
    from incrowd import datasets as datasets
    from incrowd import errors as errors
    from incrowd import feasibility as feasibility
    from incrowd import federation as federation
    from incrowd import hierarchies as hierarchies
    from incrowd import methods as methods
    from incrowd import policy as policy
    from incrowd import privacy as privacy
    from incrowd import profiling as profiling
    from incrowd import publish as publish
    from incrowd import query as query
    from incrowd import report as report
    from incrowd import research as research
    from incrowd import sources as sources
    from incrowd import utility as utility
    from incrowd.attacks import link, risk
    from incrowd.comparison import compare
    from incrowd.errors import IncrowdError
    from incrowd.pipeline import anonymize, specialize
    from incrowd.policy import Policy
    from incrowd.publish import Release, open_release
    from incrowd.utility import evaluate

_HOMES = {
    "IncrowdError": "incrowd.errors",
    "Policy": "incrowd.policy",
    "Release": "incrowd.publish",
    "anonymize": "incrowd.pipeline",
    "compare": "incrowd.comparison",
    "evaluate": "incrowd.utility",
    "link": "incrowd.attacks",
    "open_release": "incrowd.publish",
    "risk": "incrowd.attacks",
    "specialize": "incrowd.pipeline",
}
_ROOMS = (
    *("attacks", "comparison", "datasets", "errors", "feasibility", "federation", "hierarchies"),
    *("methods", "policy", "privacy", "profiling", "publish", "query", "report", "research"),
    *("sources", "utility"),
)

__all__ = [
    "IncrowdError",
    "Policy",
    "Release",
    "__version__",
    "anonymize",
    "compare",
    "evaluate",
    "link",
    "open_release",
    "risk",
    "specialize",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return import_module(f"incrowd.{name}")
    raise AttributeError(f"module 'incrowd' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_ROOMS]
