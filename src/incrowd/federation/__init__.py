"""Hospitals that may not pool their records: one release, and no record or count that is shown.

| to find | read, from the outside in |
|---|---|
| a run at one hospital | `run/`: hospital, rehearsal; joint_table, own_records, history |
| whom it trusts | `run/`: levels, sealed_search, level_own, own_share, level_joint |
| who takes part | `membership/`: kits, consortium, assembly, identities, ledgers, consents |
| leader and parties | `session/`: leader, party, session, turns, meetings |
| the network | `transport/`: listener, client, rounds, tls, messages, transcripts, terms |
| sums | `protocols/`: sums, masking, ring, key_agreement; marks, witnesses |
| one bit from many counts | `protocols/`: crowds, comparisons, desks; secret_shares, relay |
| that nobody cheats in it | `protocols/`: proofs, covers, recombination |

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
