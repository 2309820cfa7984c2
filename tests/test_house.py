"""Rules of the house: who may import whom, and that everything has its page."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import incrowd
from incrowd.methods import METHOD_OPTIONS
from incrowd.privacy import MODELS
from incrowd.sources.source import KINDS
from incrowd.verify.models import JUDGES

PACKAGE = Path(incrowd.__file__).parent
REPOSITORY = Path(__file__).parent.parent
MODULES = sorted(PACKAGE.rglob("*.py"))


def imported(text: str) -> set[str]:
    """The modules of the package that a text imports, or names to import them, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the whole path"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                names.add(whole if whole in KNOWN else str(node.module))
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Constant) and str(node.value).startswith("incrowd."):
            names.add(str(node.value))  # for import_module and what takes names for it
    return names & KNOWN.keys()


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
PARTS = {
    "federation": ("transport", "membership", "protocols", "session", "run"),
    "serve": ("workspace", "pages", "http"),
    "verify": ("verdict", "files", "counting", "models", "layouts"),
    "cli": ("output", "app", "arguments", "signals", "demo", "commands"),
}
"""The parts of a room, packages and modules, may import those before their own.

After them come the modules with an underscore that lie beside them, and what the room shows.
"""


def module_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(("incrowd", *(parts[:-1] if parts[-1] == "__init__" else parts)))


KNOWN = {module_of(path): path for path in MODULES}


def room_of(module: str) -> str:
    return [*module.split("."), "__init__"][1]


def is_above(used: str, own: str) -> bool:
    """Whether a module lies in a room, or a part of its room, that another may not import."""
    below, room = room_of(used), room_of(own)
    if below != room:
        beside = room == "verify" and below not in JUDGE_MAY_USE
        return beside or LAYER[below] >= LAYER[room]
    return room in PARTS and place_in(room, used) > place_in(room, own)


def place_in(room: str, module: str) -> int:
    """The place of the part that a module lies in, among those of a room."""
    part = [*module.split("."), "_"][2]
    return len(PARTS[room]) if part.startswith("_") else PARTS[room].index(part)


def wrong_imports(own: str, text: str) -> Iterator[str]:
    """What a module with a text imports though it may not, in words."""
    for used in sorted(imported(text)):
        if is_above(used, own):
            yield f"{own} imports {used}"
        home, _, name = used.rpartition(".")
        if name.startswith("_") and home != "incrowd" and package_of(own) != home:
            yield f"{own} imports the private {used}"


def test_imports_lead_down_the_layers_and_keep_out_of_private_modules() -> None:
    texts = {module: path.read_text(encoding="utf-8") for module, path in KNOWN.items()}
    assert "\n".join(told for each in texts.items() for told in wrong_imports(*each)) == ""


def package_of(module: str) -> str:
    return module if KNOWN[module].stem == "__init__" else module.rpartition(".")[0]


def found_by_a_registry() -> Iterator[str]:
    """The modules that hold what a registry has found by looking into each of its room."""
    for room, registry in (("privacy", MODELS), ("verify.models", JUDGES), ("sources", KINDS)):
        held = {id(each) for each in registry.own.values()}
        for module in KNOWN:
            lies = module.rpartition(".")[0] == f"incrowd.{room}" and "._" not in module
            if lies and not held.isdisjoint(map(id, vars(import_module(module)).values())):
                yield module


def test_a_module_that_only_its_own_package_imports_has_an_underscore() -> None:
    """But for what a registry finds and what a page teaches; what lies right below is a room."""
    users: dict[str, set[str]] = {module: set() for module in KNOWN}
    for user, path in KNOWN.items():
        for used in imported(path.read_text(encoding="utf-8")):
            users[used].add(package_of(user))
    pages = [REPOSITORY / "README.md", *(REPOSITORY / "docs").rglob("*.md")]
    told = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    taught = {module for module in KNOWN if re.search(rf"\b{re.escape(module)}\b", told)}
    found = {*found_by_a_registry(), *taught}
    for module, packages in users.items():
        home, _, name = module.rpartition(".")
        if home not in ("", "incrowd") and package_of(module) == home and module not in found:
            assert name.startswith("_") or packages - {home}, module


@pytest.mark.parametrize(
    ("own", "text"),
    [
        ("incrowd.privacy.lkc", "from incrowd.methods.base import Task"),
        ("incrowd.privacy.lkc", "def f():\n    import incrowd.pipeline"),
        ("incrowd.privacy.lkc", "from incrowd import anonymize"),
        ("incrowd.privacy.lkc", "import_module('incrowd.pipeline')"),
        ("incrowd.privacy.lkc", "from incrowd.counts._nodes import x"),
        ("incrowd.verify._judge", "from incrowd.privacy import MODELS"),
        ("incrowd.federation.transport.tls", "from incrowd.federation.membership import kits"),
        ("incrowd.verify.verdict", "from incrowd.verify.files.layout import Layout"),
        ("incrowd.verify.models.lkc", "from incrowd.verify import verify"),
    ],
)
def test_an_import_that_leads_up_or_into_what_is_private_is_found(own: str, text: str) -> None:
    assert [*wrong_imports(own, text)]


def test_the_page_on_architecture_has_these_layers() -> None:
    page = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
    lines = [line.split("|")[1:3] for line in page.splitlines() if re.match(r"\| \d+ \| `", line)]
    told = [(int(number), tuple(re.findall("`(.+?)`", rooms))) for number, rooms in lines]
    assert told == list(enumerate(LAYERS, start=1))
    for room, parts in PARTS.items():
        (row,) = (line for line in page.splitlines() if re.match(rf"\| \d+ \|.*`{room}`.*\|", line))
        assert tuple(re.findall(rf"`({'|'.join(parts)})/?`", row)) == parts


def types_of(tree: ast.Module) -> Iterator[str]:
    """The classes of a module, and its aliases of types: capitalized names that are given there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name
    for statement in tree.body:
        guarded = statement.body if isinstance(statement, ast.If) else [statement]
        for each in guarded:
            targets = each.targets if isinstance(each, ast.Assign) else []
            targets = [each.target] if isinstance(each, ast.AnnAssign) else targets
            names = (target.id for target in targets if isinstance(target, ast.Name))
            yield from (name for name in names if re.match("_*[A-Z].*[a-z]", name))


def test_no_two_types_have_one_name_with_or_without_an_underscore() -> None:
    places: dict[str, list[str]] = {}
    for path in MODULES:
        for name in types_of(ast.parse(path.read_text(encoding="utf-8"))):
            places.setdefault(name.lstrip("_"), []).append(module_of(path))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}


def test_files_are_short() -> None:
    lines = {module_of(path): path.read_text(encoding="utf-8").count("\n") for path in MODULES}
    assert {name for name, many in lines.items() if many > 400} == set()


Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions() -> Iterator[tuple[str, Function]]:
    """Every function of the package, by its name in its module."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Function):
                yield f"{module_of(path)}.{node.name}", node


def test_signatures_are_short() -> None:
    """Nine parameters at most; twelve where the caller names all but four."""
    for name, node in functions():
        taken = node.args
        by_place = [*taken.posonlyargs, *taken.args]
        by_place = [each for each in by_place if each.arg not in ("self", "cls")]
        named = [*taken.kwonlyargs, *filter(None, (taken.vararg, taken.kwarg))]
        most = 12 if len(by_place) <= 4 else 9
        assert len(by_place) + len(named) <= most, name


def test_functions_are_short() -> None:
    """70 lines at most without the docstring; 125 where compiled, for calls cost time there."""
    for name, node in functions():
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
        places = re.findall("`(.+?)`", line[-1])
        assert places, line[0]
        assert all((PACKAGE / place).exists() for place in places), line[0]


def test_every_model_and_method_has_a_page_that_names_what_it_does_not_protect() -> None:
    for name in MODELS:
        page = REPOSITORY / "docs" / "models" / f"{name}.md"
        assert "Not protected." in page.read_text(encoding="utf-8"), name
    for name in METHOD_OPTIONS:
        assert (REPOSITORY / "docs" / "methods" / f"{name}.md").is_file(), name


def test_every_parameter_of_a_model_and_option_of_a_method_says_what_it_means() -> None:
    for name, model in MODELS.items():
        for each, field in model.parameters().items():
            assert field.description, (name, each)
    for name, options in METHOD_OPTIONS.items():
        for each, field in options.model_fields.items():
            assert field.description, (name, each)


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
        shown = getattr(incrowd, name)
        if isinstance(shown, ModuleType):
            assert (REPOSITORY / "docs" / "reference" / f"{name}.md").exists(), name
            assert all(hasattr(shown, each) for each in getattr(shown, "__all__", ())), name
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


def words_of(text: str) -> str:
    """The docstrings, other bare strings and comments of a module."""
    bare = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr))
    told = [node.value for node in bare if isinstance(node, ast.Constant)]
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    told += [token.string for token in tokens if token.type == tokenize.COMMENT]
    return "\n".join(map(str, told))


def test_files_named_in_docstrings_and_comments_exist() -> None:
    known = [f"/{path.relative_to(PACKAGE).as_posix()}" for path in MODULES]
    for path in MODULES:
        for name in re.findall(r"[\w/]+\.py\b", words_of(path.read_text(encoding="utf-8"))):
            found = any(each.endswith(f"/{name}") for each in known)
            assert found, f"{module_of(path)} names {name}"


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)[)#]", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} -> {target}"
