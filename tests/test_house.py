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


def test_signatures_are_short() -> None:
    """Nine parameters at most; twelve where all but four are named by the caller."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            if "compiled" in {ast.unparse(each) for each in node.decorator_list}:
                continue  # loops take arrays one by one
            taken = node.args
            by_place = [each for each in taken.args if each.arg not in ("self", "cls")]
            named = [*taken.kwonlyargs, *filter(None, (taken.vararg, taken.kwarg))]
            most = 12 if len(by_place) <= 4 else 9
            assert len(by_place) + len(named) <= most, f"{module_of(path)}.{node.name}"


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


LISTS = (
    "mkdocs.yml",
    *(f"docs/{name}.md" for name in ("index", "policy", "large", "spark", "federation")),
    "docs/methods/mondrian.md",
)
NAMES = sorted({*MODELS, *METHOD_OPTIONS}, key=len, reverse=True)
NAMED = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, NAMES))})(?![\w-])")


def told_by(path: Path) -> Iterator[str]:
    """The texts of a module, but for docstrings and what `--help` says of an option."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    for_people = {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Expr) or (isinstance(node, ast.keyword) and node.arg == "help")
    }
    for node in nodes:
        if isinstance(node, ast.Constant) and id(node) not in for_people:
            yield str(node.value)


def test_nothing_names_a_model_or_a_method_outside_of_its_own_files() -> None:
    """What is asked of one is asked of all: the others would silently be passed over.

    Examples for people stand in docstrings and in the help of options, or name the class. Bundled
    data has policies of its own.
    """
    own = [PACKAGE / room for room in ("privacy", "methods", "verify/models", "datasets")]
    others = [path for path in MODULES if not any(path.is_relative_to(room) for room in own)]
    named = [(module_of(path), text) for path in others for text in told_by(path)]
    assert [(place, text) for place, text in named if NAMED.search(text)] == []


def test_pages_that_list_models_or_methods_have_every_one() -> None:
    pages = {page: (REPOSITORY / page).read_text(encoding="utf-8") for page in LISTS}
    for kind, registry in (("models", MODELS), ("methods", METHOD_OPTIONS)):
        for name in registry.own:
            for page in ("mkdocs.yml", "docs/index.md"):
                assert f"{kind}/{name}.md" in pages[page], (page, name)
    for page in ("docs/policy.md", "docs/large.md", "docs/spark.md"):
        (line,) = re.findall(r"^\| `?methods?`? \|.*", pages[page], re.MULTILINE)
        assert [name for name in METHOD_OPTIONS.own if name not in line] == [], page
    (line,) = re.findall(r"models that bound crowds: (.*?)[;|]", pages["docs/federation.md"])
    assert set(re.findall("`(.+?)`", line)) == {
        name for name, model in MODELS.own.items() if model.bounds_crowds()
    }
    (line,) = re.findall(
        r"It works under (.*?), and other models are refused",
        pages["docs/methods/mondrian.md"],
        re.DOTALL,
    )
    assert set(re.split(r",\s+| and ", line)) == {
        name for name, model in MODELS.own.items() if model.tells_safe_size()
    }


def test_every_model_of_the_package_is_shown_by_its_room() -> None:
    shown = [getattr(incrowd.privacy, name) for name in incrowd.privacy.__all__]
    assert [model.name for model in MODELS.own.values() if model not in shown] == []


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
