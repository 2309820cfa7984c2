"""Every prompt in a docstring of the package runs, and gives what stands below it."""

import doctest
import re
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import pytest

import incrowd

PACKAGE = Path(incrowd.__file__).parent
WITH_PROMPTS = sorted(
    path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("path", WITH_PROMPTS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_examples_of_a_module_run(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    module = import_module(".".join(part for part in parts if part != "__init__"))
    failed, tried = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried, "prompts that nothing finds, in a string that is no docstring"
    assert not failed, "see what was printed"


def found(name: str) -> bool:
    """Whether a dotted name leads to a module, or to something in one."""
    try:
        import_module(name)
    except ImportError:
        home, _, last = name.rpartition(".")
        return bool(home) and found(home) and hasattr(resolve_name(home), last)
    return True


def test_names_of_the_package_in_docstrings_and_pages_lead_somewhere() -> None:
    repository = Path(__file__).parent.parent
    pages = [repository / "README.md", *(repository / "docs").rglob("*.md")]
    named = {
        name
        for path in (*PACKAGE.rglob("*.py"), *pages)
        for name in re.findall(r"`(incrowd(?:\.\w+)+)`", path.read_text(encoding="utf-8"))
    }
    groups = {"incrowd.judges", "incrowd.models"}  # of entry points: names, but of no module
    assert [name for name in sorted(named - groups) if not found(name)] == []
