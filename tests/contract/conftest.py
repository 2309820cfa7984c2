"""Checks that several files share tell what failed as tests do."""

import pytest

pytest.register_assert_rewrite("contract_checks")
