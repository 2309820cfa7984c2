"""Whether rows of events are facts that stand once: no row twice, and protected ones alone.

How often an event stands would tell how often it happened, which no promise on sets of facts is
about. A row that shows a protected value shows nothing else that may be known: the combinations
that are counted have neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incrowd.verify.counting.facts import ROOT
from incrowd.verify.counting.spellings import reading
from incrowd.verify.verdict import ATOMS, Finding, counted, listed, shown

if TYPE_CHECKING:
    from incrowd.verify.counting.facts import EventTable, PatientFacts


def judge_atoms(facts: PatientFacts) -> list[Finding]:
    """Return the judgement on rows of events that may be known, where there are any."""
    if not facts.known:
        return []
    problems = [problem for table in facts.known for problem in _problems(facts, table)]
    if problems:
        return [Finding(ATOMS, False, listed(problems))]
    several = ", ".join(shown(name) for table in facts.known for name in table.quasi)
    return [Finding(ATOMS, True, f"no patient has two rows that are alike in {several}")]


def _problems(facts: PatientFacts, table: EventTable) -> list[str]:
    connection, where = facts.connection, f"of {shown(table.name)}"
    cells = ", ".join(table.quasi.values())
    ((twice,),) = connection.execute(
        f"SELECT coalesce(sum(held - 1), 0)::BIGINT FROM (SELECT sum(n) AS held FROM {table.rows}"
        f" GROUP BY {table.who}, {cells})"
    ).fetchall()
    problems = []
    if twice:
        problems.append(f"{counted(twice, 'row')} {where} repeat what another of a patient shows")
    beside = " OR ".join(
        f"({column} <> '{ROOT}' AND NOT ({facts.protecting({name: column})}))"
        for name, column in table.quasi.items()
    )
    ((more,),) = connection.execute(
        f"SELECT coalesce(sum(n), 0)::BIGINT FROM {table.rows}"
        f" WHERE ({facts.protecting(table.quasi)}) AND ({beside})"
    ).fetchall()
    if more:
        problems.append(f"{counted(more, 'row')} {where} show more than a protected value")
    for name, column in table.quasi.items():
        if values := facts.protected.get(name):
            alike = {reading(value) for value in values}
            texts = connection.execute(f"SELECT DISTINCT {column} FROM {table.rows}").fetchall()
            odd = sum(text not in values and reading(text) in alike for (text,) in texts)
            if odd:
                problems.append(
                    f"{counted(odd, 'label')} of {shown(name)} say in another spelling what is"
                    " protected"
                )
    return problems
