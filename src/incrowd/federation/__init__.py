"""Hospitals that may not pool their records: identities, kits, and sums that open only as sums.

Importing this room loads `cryptography`, so the command line imports it where it is used.
"""

from incrowd.federation.consortium import Consortium
from incrowd.federation.kits import Kit, load_kit, make_kits
from incrowd.federation.sums import SecureSum, add_up, secure_sum

__all__ = [
    "Consortium",
    "Kit",
    "SecureSum",
    "add_up",
    "load_kit",
    "make_kits",
    "secure_sum",
]
