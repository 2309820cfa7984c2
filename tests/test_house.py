"""Rules of the house: who may import whom, and that everything has its page."""

import ast
from pathlib import Path

import pytest

import incrowd
from incrowd.methods import METHOD_OPTIONS
from incrowd.privacy import MODELS

PACKAGE = Path(incrowd.__file__).parent
REPOSITORY = Path(__file__).parent.parent
MODULES = sorted(PACKAGE.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """The modules of the package that a file imports, wherever in the file."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return {name for name in names if name.startswith("incrowd")}


def within(names: set[str], *rooms: str) -> list[str]:
    homes = [f"incrowd.{room}" for room in rooms]
    return [n for n in names if any(n == home or n.startswith(f"{home}.") for home in homes)]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_keep_to_the_plan_of_the_house(path: Path) -> None:
    names = imported(path)
    room = path.relative_to(PACKAGE).parts[0]
    assert not within(names, "cli") or room in ("cli", "__main__.py")
    if room == "verify":
        allowed = ["verify", "errors", "compiling", "scratch", "spark_errors", "spark_session"]
        if path.name == "original.py":  # reads and writes cells, and decides nothing by them
            allowed += ["sources", "coding"]
        assert {n for n in names if not within({n}, *allowed)} == set()
    if room == "methods":
        assert not within(names, "publish", "sources", "verify", "attacks", "utility", "cli")
    if room == "privacy":
        assert within(names, "sources") == [] or path.name == "checking.py"
        assert not within(names, "methods", "publish", "verify", "cli")
    if room == "counts":
        assert not within(names, "methods", "publish", "sources", "verify", "cli")


def test_every_model_and_method_has_a_page_that_names_what_it_does_not_protect() -> None:
    for name in MODELS:
        page = REPOSITORY / "docs" / "models" / f"{name}.md"
        assert "Not protected." in page.read_text(encoding="utf-8"), name
    for name in METHOD_OPTIONS:
        assert (REPOSITORY / "docs" / "methods" / f"{name}.md").is_file(), name


def test_every_public_name_loads_and_is_documented() -> None:
    page = (REPOSITORY / "docs" / "python.md").read_text(encoding="utf-8")
    for name in incrowd.__all__:
        assert getattr(incrowd, name) is not None
        assert f"incrowd.{name}" in page, name


def test_links_between_pages_lead_somewhere() -> None:
    import re

    pages = [REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} -> {target}"
