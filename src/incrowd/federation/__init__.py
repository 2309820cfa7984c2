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

Importing this room loads `cryptography`, so the command line imports it where it is used. What runs
between hospitals is loaded when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd._runtime.late import late_names
from incrowd.federation.membership.consortium import Consortium
from incrowd.federation.membership.kits import Kit, enrol, load_kit, make_kits
from incrowd.federation.protocols.sums import SecureSum, secure_sum

if TYPE_CHECKING:
    from incrowd.federation.run.fitness import check_policy
    from incrowd.federation.run.hospital import Joint, join, lead
    from incrowd.federation.run.rehearsal import Rehearsal, rehearse
    from incrowd.federation.session.meetings import Leader, serve
    from incrowd.federation.session.session import terms_of

__all__ = [
    "Consortium",
    "Joint",
    "Kit",
    "Leader",
    "Rehearsal",
    "SecureSum",
    "check_policy",
    "enrol",
    "join",
    "lead",
    "load_kit",
    "make_kits",
    "rehearse",
    "secure_sum",
    "serve",
    "terms_of",
]
__getattr__ = late_names(
    __name__,
    {
        "Joint": "incrowd.federation.run.hospital",
        "Leader": "incrowd.federation.session.meetings",
        "Rehearsal": "incrowd.federation.run.rehearsal",
        "check_policy": "incrowd.federation.run.fitness",
        "join": "incrowd.federation.run.hospital",
        "lead": "incrowd.federation.run.hospital",
        "rehearse": "incrowd.federation.run.rehearsal",
        "serve": "incrowd.federation.session.meetings",
        "terms_of": "incrowd.federation.session.session",
    },
)
