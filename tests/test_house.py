"""Rules of the house: who may import whom, and that everything has its page."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

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


LAYERS = (
    ("errors", "_version"),
    ("_runtime",),
    ("sources",),
    ("table",),
    ("hierarchies",),
    ("labels",),
    ("counts",),
    ("privacy",),
    ("research",),
    ("methods",),
    ("policy", "datasets"),
    ("engines", "verify"),
    ("published",),
    ("query",),
    ("publish",),
    ("attacks",),
    ("utility",),
    ("feasibility", "profiling"),
    ("report",),
    ("pipeline",),
    ("comparison", "federation"),
    ("serve",),
    ("cli",),
    ("__init__", "__main__"),
)
"""Every room may import those of the layers before its own, and none beside or above it."""
LAYER = {room: number for number, rooms in enumerate(LAYERS) for room in rooms}
JUDGE_MAY_USE = {"errors", "_runtime", "sources", "table"}
"""The judge shares no code with what it judges; `table` reads the cells of an original for it."""


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(("incrowd", *(parts[:-1] if parts[-1] == "__init__" else parts)))


KNOWN = {module_of(path) for path in MODULES}


def modules_used(path: Path) -> set[str]:
    """The modules that a file imports, or takes names from."""
    return {name for name in imported(path) if name in KNOWN}


def room_of(module: str) -> str:
    return [*module.split("."), "__init__"][1]


def wrong_imports(path: Path) -> Iterator[str]:
    """What a file imports though it may not, in words."""
    own = module_of(path)
    room, package = room_of(own), own if path.stem == "__init__" else own.rpartition(".")[0]
    for used in sorted(modules_used(path)):
        below = room_of(used)
        if below not in (room, "__init__") and (
            LAYER[below] >= LAYER[room] or (room == "verify" and below not in JUDGE_MAY_USE)
        ):
            yield f"{own} imports {used}"
        home, _, name = used.rpartition(".")
        if name.startswith("_") and home != "incrowd" and package != home:
            yield f"{own} imports the private {used}"


def test_imports_lead_down_the_layers_and_keep_out_of_private_modules() -> None:
    assert [told for path in MODULES for told in wrong_imports(path)] == []


def test_the_page_on_architecture_has_these_layers() -> None:
    page = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
    lines = [line.split("|")[1:3] for line in page.splitlines() if re.match(r"\| \d+ \| `", line)]
    told = [(int(number), tuple(re.findall("`(.+?)`", rooms))) for number, rooms in lines]
    assert told == list(enumerate(LAYERS, start=1))


def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = {}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(module_of(path))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = [
    (f"{module_of(path)}.{node.name}", node)
    for path in MODULES
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, Function)
]


def test_signatures_are_short() -> None:
    """Nine parameters at most; twelve where the caller names all but four."""
    for name, node in FUNCTIONS:
        taken = node.args
        by_place = [*taken.posonlyargs, *taken.args]
        by_place = [each for each in by_place if each.arg not in ("self", "cls")]
        named = [*taken.kwonlyargs, *filter(None, (taken.vararg, taken.kwarg))]
        most = 12 if len(by_place) <= 4 else 9
        assert len(by_place) + len(named) <= most, name


def test_functions_are_short() -> None:
    """70 lines at most without the docstring; 125 where compiled, for calls cost time there."""
    for name, node in FUNCTIONS:
        first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
        lines = node.body[0].lineno - node.lineno + (node.end_lineno or 0) - first.lineno + 1
        compiled = "compiled" in {ast.unparse(each) for each in node.decorator_list}
        assert lines <= (125 if compiled else 70), name


def test_the_glossary_has_each_word_once_and_says_where_it_lives() -> None:
    page = (REPOSITORY / "docs" / "glossary.md").read_text(encoding="utf-8")
    lines = [line.split("|")[1:-1] for line in page.splitlines() if line.endswith("` |")]
    words = [line[0].strip() for line in lines]
    assert words == sorted(set(words))
    assert len(words) > 40
    for line in lines:
        assert (PACKAGE / line[-1].strip(" `")).exists(), line[0]


def test_every_model_and_method_has_a_page_that_names_what_it_does_not_protect() -> None:
    for name in MODELS:
        page = REPOSITORY / "docs" / "models" / f"{name}.md"
        assert "Not protected." in page.read_text(encoding="utf-8"), name
    for name in METHOD_OPTIONS:
        assert (REPOSITORY / "docs" / "methods" / f"{name}.md").is_file(), name


def test_the_readme_names_every_model_and_method() -> None:
    lines = (REPOSITORY / "README.md").read_text(encoding="utf-8").lower().splitlines()
    (models,) = (line for line in lines if line.startswith("| privacy models |"))
    (methods,) = (line for line in lines if line.startswith("| methods |"))
    for name, model in MODELS.items():
        assert name in models or (model.literature or name).lower() in models, name
    for name in METHOD_OPTIONS:
        assert name.replace("-", " ") in methods.replace("-", " "), name


def test_every_public_name_and_room_loads_and_is_documented() -> None:
    page = (REPOSITORY / "docs" / "python.md").read_text(encoding="utf-8")
    for name in dir(incrowd):
        assert getattr(incrowd, name) is not None
        assert f"incrowd.{name}" in page, name


def test_the_deliberate_faults_fit_the_code_and_lie_in_every_room() -> None:
    """Tests are dropped only where these are still found: benchmarks/deliberate_faults/run.py."""
    listed = REPOSITORY / "benchmarks" / "deliberate_faults" / "faults.yaml"
    faults = yaml.safe_load(listed.read_text(encoding="utf-8"))
    assert len({fault["id"] for fault in faults}) == len(faults) >= 60
    for fault in faults:
        text = (PACKAGE / fault["file"]).read_text(encoding="utf-8")
        assert text.count(fault["was"]) == 1, fault["id"]
        ast.parse(text.replace(fault["was"], fault["now"]))
        for test in fault["tests"]:
            assert (REPOSITORY / "tests" / test.split("::")[0]).exists(), fault["id"]
    rooms = {fault["file"].split("/")[0] for fault in faults}
    assert {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()} <= rooms


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)[)#]", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} -> {target}"
