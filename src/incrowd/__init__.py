"""incrowd: turn tables of patients into data that may be shared.

The public names below are loaded when they are first used, so that importing the package, and
starting the command line, costs next to nothing. `verify` alone is loaded at once: it is also the
name of its room, and the room's name must not take the function's place.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from incrowd._version import __version__
from incrowd.verify import verify

if TYPE_CHECKING:
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
    if name not in _HOMES:
        raise AttributeError(f"module 'incrowd' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
