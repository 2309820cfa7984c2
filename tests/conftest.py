"""The order of the files: those that take longest begin first, so that all workers end together."""

import os
import secrets
import signal

import numpy as np
import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler.loadfile import LoadFileScheduling

from incrowd._runtime import randomness

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")  # a busy machine is no fault, so no example has a time limit

SLOWEST_FIRST = (
    "engines/spark/test_spark_engine.py",
    "federation/test_federation_joint",
    "contract/test_engines.py",
    "serve/",
    "engines/spark/",
    "federation/",
    "contract/",
    "cli/",
    "attacks/",
    "verify/",
    "methods/",
)
"""Rooms and files by their place below this folder; what is not listed follows."""

ONE_SPARK = (
    "engines/spark/test_spark_engine.py",
    "engines/spark/test_spark_histories.py",
    "engines/spark/test_spark_side_by_side.py",
)
"""Files whose Spark is that of their process: together they start and warm one, not two."""


class Together(LoadFileScheduling):  # type: ignore[misc]
    """Gives a worker whole files, and those of one Spark to the same worker."""

    def _split_scope(self, nodeid: str) -> str:
        path = super()._split_scope(nodeid)
        return "one Spark" if path.endswith(ONE_SPARK) else path


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """Keep the files of one Spark together where whole files are given to workers."""
    return Together(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_xdist_auto_num_workers() -> int:
    """Two more than there are cores: servers, browsers and hospitals are mostly waited for."""
    return (os.cpu_count() or 1) + 2


def pytest_configure() -> None:
    """Let Ctrl-C work in the processes that tests start, also where it is ignored (nohup, `&`)."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Sort the items by the place of their file in the list, else as they were found."""
    here = config.rootpath / "tests"

    def place(item: pytest.Item) -> int:
        path = item.path.relative_to(here).as_posix() if item.path.is_relative_to(here) else ""
        found = (at for at, prefix in enumerate(SLOWEST_FIRST) if path.startswith(prefix))
        return next(found, len(SLOWEST_FIRST))

    items.sort(key=place)
    _cover_first_cases(config, items)


def _cover_first_cases(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Look at the lines of the first case of every test only, since looking slows it down.

    The others of its cases run through the same lines, but for few.
    """
    if not config.pluginmanager.hasplugin("_cov"):
        return
    seen: set[tuple[object, str]] = set()
    for item in items:
        test = (item.path, getattr(item, "originalname", item.name))
        if test in seen:
            item.add_marker("no_cover")
        seen.add(test)


@pytest.fixture(autouse=True)
def no_ledger_of_the_user(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs among hospitals note themselves in a ledger of the test, which is made when needed."""
    folder = tmp_path_factory.getbasetemp() / "state" / secrets.token_hex(8)
    monkeypatch.setenv("INCROWD_STATE", str(folder))


@pytest.fixture
def same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn at random is the same in every run, so that releases can be compared."""
    monkeypatch.setattr(randomness, "_bytes", lambda many: np.random.default_rng(many).bytes(many))
