"""The stage of three hospitals, cleared after every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from federation_stage import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    for process in made.started:
        if process.is_alive():
            process.kill()
        process.join()
        process.close()
