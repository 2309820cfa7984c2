"""What a hospital judges for itself before anything is opened that shows rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from incrowd._runtime.scratch import scratch
from incrowd.errors import PrivacyError
from incrowd.pipeline import Job
from incrowd.privacy import LKC, KAnonymity

if TYPE_CHECKING:
    from incrowd.engines.preparation import Prepared
    from incrowd.methods.base import Outcome, Task
    from incrowd.policy import Policy
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
    hospital enters. They are written to a folder of this user alone, and removed; after a kill, by
    the next run.
    """
    prepared = _with_promises(prepared)
    if not prepared.models:
        return
    job = Job(policy, prepared, task, pooled=False, accept_unprotected=True)
    release = job.release(outcome)
    with scratch("share") as folder:
        release.save(folder / "share", report=False)


def _with_promises(prepared: Prepared) -> Prepared:
    """The own records with the promises that are about some of them.

    A bound on values that no own record has says nothing; what is left of its model is the size of
    crowds.
    """
    by_name = {column.name: column for column in prepared.table.columns}
    held = {
        column.name: {
            column.values[code] for code in np.unique(column.codes) if code < len(column.values)
        }
        for column in prepared.table.of_role("sensitive", "target")
    }
    models: list[PrivacyModel] = []
    for model in prepared.models:
        try:
            model.promise_about(held)
        except PrivacyError:  # none of the values that it lists is there
            models += [each.bind(by_name, prepared.hierarchies) for each in _sizes_alone(model)]
        else:
            models.append(model)
    return replace(prepared, models=tuple(models))


def _sizes_alone(model: PrivacyModel) -> list[PrivacyModel]:
    """What a model says of the sizes of crowds, whatever values they hold."""
    bounds = model.bounds
    if bounds is None or bounds.K == 1:
        return []
    if bounds.known is None:
        return [KAnonymity(k=bounds.K)]
    return [LKC(L=bounds.known, K=bounds.K, C=1.0, sensitive=model.sensitive_attributes[0])]
