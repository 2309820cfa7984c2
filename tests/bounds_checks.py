"""The tests that run once more with every index of the compiled loops checked.

    PYTHONPATH=tests NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(mktemp -d) pytest -q -p bounds_checks

Machine code that leaves its arrays is silent, or ends the process; with bounds checked it raises
IndexError. This plugin keeps to the tests below, which drive all compiled loops of the package on
small tables, and fails the run where a loop was not driven.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = (
    "attacks/test_elimination.py::test_figure_1",
    "attacks/test_elimination.py::test_what_the_bounds_leave_open",
    "attacks/test_risk_by_power.py::test_supports",
    "attacks/test_risk_by_power.py::test_draws",
    "contract/test_crowded_tables.py",
    "counts/test_memory_partition.py::test_a_partition_answers_as_the_records_themselves[uint8",
    "table/test_packing.py",
    "methods/test_anatomize_several.py::test_figure_4",
    "methods/test_anatomize_several.py::test_similar_groups",
    "methods/test_clustering.py::test_a_rule_is_kept",
    "methods/test_clustering.py::test_a_value_far",
    "methods/test_clustering.py::test_clusters_that_are_large",
    "methods/test_clustering.py::test_the_index_finds_what_the_comparison_of_all_finds[True-research-value",
    "methods/test_histories_search.py::test_all_is_kept",
    "methods/test_histories_search.py::test_all_that_is_shown_is_kept[1",
    "methods/test_histories_search.py::test_hiding",
    "methods/test_histories_search.py::test_larger_sets",
    "methods/test_incognito.py::test_frequency_sets_are_the_same_however_they_are_made[4194304",
    "methods/test_mondrian.py::test_a_group_stays_whole",
    "methods/test_research_value.py::test_few_strings",
    "methods/test_top_down_local.py::test_a_step",
    "privacy/test_privacy_combinations.py::test_a_violation",
    "privacy/test_privacy_combinations.py::test_bad_cuts",
    "privacy/test_privacy_combinations.py::test_the_weakest",
    "privacy/test_privacy_deletions.py::test_deletions_proved",
    "privacy/test_privacy_deletions.py::test_exact_is_more",
    "privacy/test_privacy_deletions.py::test_one_value_for_each",
    "privacy/test_privacy_deletions.py::test_rows_that",
    "query/test_query_brute_force.py::test_anatomy",
    "utility/test_kl_divergence.py::test_overlapping",
    "utility/test_query_error.py",
    "verify/test_verify_lkc.py::test_all_ways",
    "verify/test_verify_lkc.py::test_counts_beyond",
    "verify/test_verify_multi_sensitive.py::test_figure",
    "verify/test_verify_multi_sensitive.py::test_search_and_solver_agree_where_bounds_leave_a_gap[None",
)
"""Files and single tests, by how their names begin below this folder."""

_DRIVEN = pytest.StashKey[set[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to run where nothing would be checked, or code may be kept for later runs.

    Code that checks its indices is not always kept, which Numba warns of, in colours or without.
    """
    if os.environ.get("NUMBA_BOUNDSCHECK") != "1" or not os.environ.get("NUMBA_CACHE_DIR"):
        raise pytest.UsageError("set NUMBA_BOUNDSCHECK=1, and NUMBA_CACHE_DIR to an empty folder")
    config.addinivalue_line("filterwarnings", "ignore:.*Cannot cache compiled function")
    config.stash[_DRIVEN] = set()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files without such a test: importing them all takes longer than many tests."""
    if collection_path.suffix != ".py":
        return None
    place = collection_path.relative_to(config.rootpath / "tests").as_posix()
    return None if any(test.startswith(place) for test in TESTS) else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep to the tests that drive compiled loops."""
    chosen = [item for item in items if item.nodeid.removeprefix("tests/").startswith(TESTS)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
    items[:] = chosen


def pytest_testnodedown(node: object) -> None:
    """Take in what a worker drove."""
    output = getattr(node, "workeroutput", {})
    getattr(node, "config").stash[_DRIVEN].update(output.get("driven", []))  # noqa: B009


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell what was driven; without a worker left to wait for, fail where a loop was not."""
    config = session.config
    found = config.stash[_DRIVEN]
    found.update(driven())
    output = getattr(config, "workeroutput", None)
    if output is not None:
        output["driven"] = sorted(found)
        return
    missing = sorted(loops() - found)
    if missing and not config.option.collectonly:
        print(f"\n{len(missing)} compiled loops were not driven with bounds checked:", *missing)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def driven() -> set[str]:
    """The compiled loops that ran in this process, with those that are part of their code."""
    from incrowd._runtime.compiling import LOOPS

    waiting = [loop for loop in LOOPS if loop.signatures]
    found: dict[str, object] = {}
    while waiting:
        loop = waiting.pop()
        if _name(loop) not in found:
            found[_name(loop)] = loop
            plain = loop.py_func
            named = (plain.__globals__.get(name) for name in plain.__code__.co_names)
            waiting += [each for each in named if hasattr(each, "signatures")]
    return set(found)


def loops() -> set[str]:
    """All compiled loops of the package."""
    import incrowd
    from incrowd._runtime.compiling import LOOPS

    for module in _modules(Path(incrowd.__file__).parent):
        importlib.import_module(module)
    return {_name(loop) for loop in LOOPS if loop.__module__.startswith("incrowd.")}


def _modules(package: Path) -> Iterator[str]:
    for path in sorted(package.rglob("*.py")):
        if "@compiled\n" in path.read_text(encoding="utf-8"):
            yield ".".join(("incrowd", *path.relative_to(package).with_suffix("").parts))


def _name(loop: object) -> str:
    return f"{getattr(loop, '__module__', '')}.{getattr(loop, '__name__', '')}"
