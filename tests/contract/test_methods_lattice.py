"""Incognito and research-value, under every model: what must hold of each release."""

from __future__ import annotations

from contract_checks import Case, every_case_of, hold_all


@every_case_of("lattice")
def test_what_must_hold_of_a_release(case: Case) -> None:
    hold_all(case)
