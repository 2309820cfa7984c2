"""Checks that several files share tell what failed as tests do."""

import pytest

pytest.register_assert_rewrite("contract_checks")


@pytest.fixture(autouse=True)
def alike(same_draws: None) -> None:
    """Releases are compared with each other: what is drawn must be the same in all of them."""
