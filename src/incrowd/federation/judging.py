"""What a hospital judges for itself before anything is opened that shows rows."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from incrowd.anonymization import Job
from incrowd.privacy import LKC, KAnonymity

if TYPE_CHECKING:
    from incrowd.methods.base import Outcome, Task
    from incrowd.policy import Policy
    from incrowd.preparation import Prepared
    from incrowd.privacy.base import PrivacyModel


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
    prepared = _with_promises(prepared)
    if not prepared.models:
        return
    job = Job(policy, prepared, task, pooled=False, accept_unprotected=True)
    release = job.release(outcome)
    with tempfile.TemporaryDirectory(prefix="incrowd-") as folder:
        release.save(Path(folder) / "share", report=False)


def _with_promises(prepared: Prepared) -> Prepared:
    """The own records with the promises that are about some of them.

    A bound on values that no own record has says nothing; what is left of its model is the size of
    crowds.
    """
    by_name = {column.name: column for column in prepared.table.columns}
    models: list[PrivacyModel] = []
    for model in prepared.models:
        bounds = model.bounds
        absent = (
            bounds is not None
            and bounds.listed is not None
            and bounds.sensitive is not None
            and not np.isin(by_name[bounds.sensitive].codes, bounds.listed).any()
        )
        if bounds is None or not absent:
            models.append(model)
        elif bounds.K > 1:
            sized = (
                KAnonymity(k=bounds.K)
                if bounds.known is None
                else LKC(L=bounds.known, K=bounds.K, C=1.0, sensitive=bounds.sensitive)
            )
            models.append(sized.bind(by_name, prepared.hierarchies))
    return replace(prepared, models=tuple(models))
