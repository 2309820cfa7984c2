"""What a hospital judges for itself before anything is opened that shows rows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from incrowd.anonymization import Job

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome, Task
    from incrowd.policy import Policy
    from incrowd.preparation import Prepared


def judge_own(policy: Policy, prepared: Prepared, task: Task, outcome: Outcome) -> None:
    """Let the judge find that the own records, as the release will show them, keep the policy.

    Parameters
    ----------
    policy, prepared, task
        Of the own records.
    outcome
        Their groups and labels.

    Raises
    ------
    VerificationError
        When they do not, alone. Then nothing that shows a row may be sent.

    Notes
    -----
    Invariant: the judge reads files that hold own records and nothing else, so no word of another
    hospital enters. They are written to a folder of this user alone, and removed.
    """
    job = Job(policy, prepared, task, pooled=False, accept_unprotected=True)
    release = job.release(outcome)
    with tempfile.TemporaryDirectory(prefix="incrowd-") as folder:
        release.save(Path(folder) / "share", report=False)
