"""Hospitals that may not pool their records: one release, and no record or count that is shown.

| to find | read, from the outside in |
|---|---|
| a run at one hospital | running, joint, meetings, own_records, fitness |
| whom it trusts | levels; sealed, with objecting and judging (own), or under_bits (joint) |
| many on one machine | rehearsing, processes |
| who takes part | kits, kit_readme, consortium, assembling, identities, certificates |
| what must fit first | agreed_records; history, ledgers, sketches, consents |
| leader and parties | leading, joining, seats, turns, rounds, terms |
| the network | serving, dialling, channels, messages, transcripts |
| sums | sums, masking, ring, agreements; marks (any), witnesses (added up by everyone) |
| one bit from many counts | crowds, comparing, desks; sharing, stand_ins (MPyC), relaying |
| that nobody cheats in it | proving, covering, recombining |
| the naive way, to compare with | apart, common_labels |

Importing this room loads `cryptography`, so the command line imports it where it is used.
"""

from incrowd.federation.membership.consortium import Consortium
from incrowd.federation.membership.kits import Kit, load_kit, make_kits
from incrowd.federation.protocols.sums import SecureSum, add_up, secure_sum

__all__ = [
    "Consortium",
    "Kit",
    "SecureSum",
    "add_up",
    "load_kit",
    "make_kits",
    "secure_sum",
]
