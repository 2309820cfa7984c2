"""The stage of three hospitals: one consortium for all tests of a file, cleared after each."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from federation_stage import Stage


@pytest.fixture(scope="module")
def consortium(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("stage"))


@pytest.fixture
def stage(consortium: Stage) -> Iterator[Stage]:
    """The kits of the tests before, which faults must not spoil."""
    yield consortium
    consortium.clear()


@pytest.fixture
def own_stage(tmp_path: Path) -> Iterator[Stage]:
    """For tests that spoil the kits."""
    made = Stage(tmp_path)
    yield made
    made.clear()
