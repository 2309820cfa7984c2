"""The workspace from Python: trees, coverage, drafts that are not legal yet, streams."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from running_server import CSV

from incrowd._runtime.scratch import scratch
from incrowd.errors import HierarchyError, ParameterError, PolicyError, SourceError
from incrowd.policy import AttributePolicy, HierarchyPolicy
from incrowd.serve import NotReadyError, TooLargeError, Workspace, WorkspaceSource
from incrowd.serve.workspace._names import safe_name
from incrowd.serve.workspace.trees import Node, column_of, look


@pytest.fixture(scope="module")
def workspace() -> Iterator[Workspace]:
    with scratch("test") as folder, Workspace(folder, limit=100_000, at_once=1) as found:
        yield found


@pytest.fixture(scope="module")
def source(workspace: Workspace) -> WorkspaceSource:
    found = workspace.add_source("patients.csv", io.BytesIO(CSV.encode()))
    assert found.studied.wait(600)
    assert found.state == "ready", found.message
    return found


def labels(node: Node) -> Any:
    return {node.label: [labels(child) for child in node.children]} if node.children else node.label


def test_a_tree_shows_its_labels_with_values_and_records() -> None:
    column = column_of("job", ["Lawyer", "Mover", "Smith", None], [5, 2, 1, 3], None)
    asked = HierarchyPolicy(tree={"White": ["Lawyer"], "Blue": ["Mover", "Smith"]})
    tree = look(column, asked, Path())
    assert tree.root is not None
    assert labels(tree.root) == {
        "*": [{"White": ["Lawyer"]}, {"Blue": ["Mover", "Smith"]}, "(missing)"]
    }
    assert (tree.root.values, tree.root.records) == (4, 11)
    assert [child.records for child in tree.root.children] == [5, 3, 3]
    assert (tree.coverage.values, tree.coverage.complete) == (3, True)


def test_a_tree_is_cut_in_breadth_and_depth() -> None:
    texts = [f"{number:05}" for number in range(0, 90_000, 1_000)]
    column = column_of("zip", texts, [1] * 90, AttributePolicy(role="quasi", type="category"))
    asked = HierarchyPolicy.model_validate({"mask": {"length": 5}})
    root = look(column, asked, Path(), breadth=4, depth=1).root
    assert root is not None
    assert [child.label for child in root.children] == ["0****", "1****", "2****", "3****"]
    assert (root.more, root.children[0].more, root.children[0].children) == (5, 10, ())


def test_values_that_a_tree_lacks_are_counted_and_the_others_shown() -> None:
    column = column_of("job", ["Lawyer", "Mover"], [5, 2], None)
    tree = look(column, HierarchyPolicy(tree={"White": ["Lawyer", "Judge"]}), Path())
    assert (tree.coverage.missing, tree.coverage.records_missing) == (1, 2)
    assert tree.root is not None
    assert tree.root.values == 1
    none = look(column, HierarchyPolicy(tree={"White": ["Judge"]}), Path())
    assert (none.root, none.coverage.covered) == (None, 0)
    asked = HierarchyPolicy.model_validate({"mask": {"length": 5}})
    with pytest.raises(HierarchyError, match="1 distinct values"):
        look(column, asked, Path())


def test_a_draft_that_is_not_legal_yet_is_kept_and_cannot_run(
    workspace: Workspace, source: WorkspaceSource
) -> None:
    draft = source.draft
    problem = source.edit({**draft, "privacy": []})
    assert problem is not None
    assert source.problem == problem
    assert source.draft["privacy"] == []
    with pytest.raises(PolicyError):
        workspace.start(source.id)
    assert workspace.runs == []
    assert source.edit(draft) is None
    assert source.draft == draft


def test_drafts_are_copies(source: WorkspaceSource) -> None:
    source.draft["attributes"].clear()
    source.risk()["groups"].clear()
    assert source.draft["attributes"]
    assert source.risk()["groups"]["count"] > 0


def test_a_hierarchy_can_be_looked_at_before_it_is_taken(source: WorkspaceSource) -> None:
    before = source.draft
    tree = source.hierarchy_tree(
        "age", hierarchy={"intervals": {"start": 20, "stop": 60, "widths": [10, 20]}}
    )
    assert tree.root is not None
    assert [child.label for child in tree.root.children] == ["[20-40)", "[40-60)"]
    assert source.draft == before
    with pytest.raises(PolicyError, match="Did you mean 'intervals'"):
        source.hierarchy_tree("age", hierarchy={"interval": {}})
    with pytest.raises(PolicyError, match="not given"):
        source.hierarchy_tree("age", hierarchy="/etc/passwd")
    with pytest.raises(ParameterError, match="Did you mean 'age'"):
        source.hierarchy_tree("ages")


def test_a_stream_over_the_limit_leaves_nothing(
    workspace: Workspace, source: WorkspaceSource
) -> None:
    with pytest.raises(TooLargeError, match="--upload-limit"):
        workspace.add_source("large.csv", io.BytesIO(b"x" * 100_001))
    with pytest.raises(SourceError, match=r"the ending \.exe"):
        workspace.add_source("a.exe", io.BytesIO(b"x"))
    kept = [folder.name for folder in (workspace.folder / "sources").iterdir()]
    assert kept == [source.id]


def test_a_source_that_failed_tells_why_and_keeps_no_file(workspace: Workspace) -> None:
    bad = workspace.add_source("bad.csv", io.BytesIO(b"a,b\n1,2,3\n"))
    assert bad.studied.wait(600)
    assert (bad.state, bad.folder.exists()) == ("failed", False)
    assert "line 2: 3 cells" in bad.message
    with pytest.raises(NotReadyError, match="line 2"):
        bad.risk(["a"], [])
    workspace.remove_source(bad.id)


def test_the_same_release_gives_the_same_archive(
    workspace: Workspace, source: WorkspaceSource
) -> None:
    first, second = workspace.start(source.id), workspace.start(source.id)
    assert first.ended.wait(600)
    assert second.ended.wait(600)
    assert (first.state, second.state) == ("done", "done")
    assert (first.number, second.number) == (1, 2)
    assert first.archive().read_bytes() == second.archive().read_bytes()
    for run in (first, second):
        workspace.remove_run(run.id)
    assert list((workspace.folder / "runs").iterdir()) == []


@pytest.mark.parametrize(
    ("given", "safe"),
    [
        ("../../a.csv", "a.csv"), ("..", "data"), ("", "data"), (".hidden.csv", "hidden.csv"),
        ("C:\\data\\a.csv", "a.csv"), ("a\x00b.csv", "a-b.csv"),
        ("Kr\u00e4nke 1.csv", "Kr\u00e4nke 1.csv"),
        ("x" * 300 + ".csv", "x" * 116 + ".csv"),
    ],
)  # fmt: skip
def test_names_of_files_are_made_safe(given: str, safe: str) -> None:
    assert safe_name(given, "data") == safe
