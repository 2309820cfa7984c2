"""A model, its judge and a method of another package, as docs/extending.md writes them."""

import importlib
import io
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import polars as pl
import pytest
import yaml

import incrowd
from incrowd.counts import Counts
from incrowd.errors import InputError, ParameterError, PolicyError, PrivacyError
from incrowd.federation.run.fitness import check_policy
from incrowd.methods import METHOD_OPTIONS, MethodOptions
from incrowd.policy import Policy, json_schema
from incrowd.privacy import MODELS
from incrowd.publish.manifest import sealed, write
from incrowd.verify.models import JUDGES
from test_documentation import REPOSITORY, blocks

PAGE = REPOSITORY / "docs" / "extending.md"
REGISTRIES: tuple[Any, ...] = (MODELS, JUDGES, METHOD_OPTIONS)
FRAME = pl.DataFrame(
    {
        "age": [20 + row * 7 % 60 for row in range(120)],
        "sex": ["female" if row % 2 else "male" for row in range(120)],
        "disease": [("Flu", "HIV", "Cold")[row % 3] for row in range(120)],
    }
)
POLICY: dict[str, Any] = {
    "source": "patients.csv",
    "unit": "row",
    "attributes": {
        "age": {
            "role": "quasi",
            "hierarchy": {"intervals": {"start": 0, "stop": 120, "widths": [5, 10, 40]}},
        },
        "sex": "quasi",
        "disease": "sensitive",
    },
    "privacy": [{"shared-values": {"m": 3, "among": ["HIV"], "more": False}}],
    "method": {"name": "even-levels", "start": 1},
    "output": "release",
}


def install(site: Path, package: str, entries: dict[str, dict[str, str]]) -> None:
    """Leave the metadata of a package in a folder, as an installer does."""
    info = site / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [
        line
        for group, named in entries.items()
        for line in (f"[{group}]", *(f"{name} = {place}" for name, place in named.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


def forget() -> None:
    """Let registries look again for what other packages bring."""
    for registry in REGISTRIES:
        vars(registry).pop("_others", None)
        registry._loaded.clear()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package of the page, installed."""
    site = tmp_path_factory.mktemp("site")
    (site / "toy").mkdir()
    for name, code in zip(("model", "judge", "method"), blocks(PAGE, "python"), strict=True):
        (site / "toy" / f"{name}.py").write_text(code, encoding="utf-8")
    (written,) = blocks(PAGE, "toml")
    install(site, "incrowd-toy", tomllib.loads(written)["project"]["entry-points"])
    return site


@pytest.fixture
def toy(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package can be imported, and is found."""
    monkeypatch.syspath_prepend(site)
    forget()
    yield
    monkeypatch.undo()
    forget()


def call(site: Path, here: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process that has the folder on its path."""
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-m", "incrowd", *arguments],
        cwd=here,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_line_makes_a_release_and_judges_it_with_the_package_alone(
    site: Path, tmp_path: Path
) -> None:
    FRAME.write_csv(tmp_path / "patients.csv")
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump(POLICY), encoding="utf-8")
    made = call(site, tmp_path, "anonymize", "policy.yaml", "--json")
    assert made.returncode == 0, made.stderr
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["method"]["name"] == "even-levels"
    assert manifest["promises"][0]["parameters"] == {
        "m": 3,
        "sensitive": "disease",
        "among": ["HIV"],
        "more": False,
    }
    judged = call(site, tmp_path, "verify", "release", "--json")
    assert judged.returncode == 0, judged.stderr
    alone = call(tmp_path / "nothing", tmp_path, "verify", "release", "--json")
    assert alone.returncode == 1


@pytest.mark.usefixtures("toy")
def test_python_makes_the_same_release_with_a_report_that_has_the_words_of_the_model(
    tmp_path: Path,
) -> None:
    release = incrowd.anonymize(FRAME, POLICY)
    model = MODELS["shared-values"]
    counts = release.data.group_by("age", "sex", "disease").len()["len"]
    assert min(counts) >= 3
    assert release.data["age"].n_unique() > 1
    verdict = release.save(tmp_path / "release")
    assert verdict.measured[0]["m"] == counts.min()
    page = (tmp_path / "release" / "report.html").read_text(encoding="utf-8")
    assert all(words in page for words in (model.name, model.summary, model.weakness))
    (tmp_path / "release" / "data.csv").write_text("age,sex,disease\n1,male,Flu\n")
    assert not incrowd.verify(tmp_path / "release").holds


@pytest.mark.usefixtures("toy")
def test_rows_out_of_core_give_the_same_release() -> None:
    there = incrowd.anonymize(FRAME, POLICY | {"engine": "duckdb"})
    assert there.data.equals(incrowd.anonymize(FRAME, POLICY).data)


@pytest.mark.usefixtures("toy")
def test_a_policy_and_its_schema_know_both() -> None:
    policy = Policy.from_mapping(POLICY)
    assert policy.privacy[0].promise()["model"] == "shared-values"
    assert policy.method.as_dict() == {"name": "even-levels", "options": {"start": 1}}
    told = "even-levels drops no record: `suppression:` changes nothing."
    assert told in Policy.from_mapping(POLICY | {"suppression": 0.1}).remarks
    with pytest.raises(PolicyError, match="shared-values: m must be a whole number of at least 2"):
        Policy.from_mapping(POLICY | {"privacy": [{"shared-values": {"m": 1}}]})
    with pytest.raises(PolicyError, match="Did you mean 'even-levels'"):
        Policy.from_mapping(POLICY | {"method": "even-level"})
    schema = json_schema()["properties"]
    models = {name for each in schema["privacy"]["items"]["anyOf"] for name in each["properties"]}
    assert models == set(MODELS)
    assert "even-levels" in schema["method"]["anyOf"][0]["enum"]


@pytest.mark.usefixtures("toy")
def test_the_page_has_its_title_its_sentence_and_its_fields() -> None:
    pytest.importorskip("nicegui", reason="the page needs the extra incrowd[serve]")
    from incrowd.serve.pages._parameters import cleaned, offered, parameters
    from incrowd.serve.pages._privacy import _methods

    assert offered()["shared-values"] == "Nobody alone with a value (shared-values)"
    model = MODELS["shared-values"]
    entry = model.starting(["disease"])
    alone = "Of those who look alike nobody is alone with {}: at least 2 records share it."
    assert model.sentence(entry) == alone.format("the disease")
    assert model.sentence({**entry, "among": ["HIV"]}) == alone.format("the disease HIV")
    fields = {each.name: (each.kind, each.low, each.hint) for each in parameters(model.name)}
    assert fields == {
        "m": ("whole", 2.0, "records with the same value, at least"),
        "sensitive": ("attribute", None, "what nobody should learn of a patient"),
        "among": ("values", None, "left out: all values"),
        "more": ("switch", None, "more than m, not just m"),
    }
    assert model(**cleaned(model.name, entry))
    assert _methods()["even-levels"] == "even-levels: all columns equally coarse"


@pytest.mark.usefixtures("toy")
def test_the_page_draws_its_fields_and_hears_of_each_change() -> None:
    nicegui = pytest.importorskip("nicegui", reason="the page needs the extra incrowd[serve]")
    from incrowd.serve.pages._model_form import ModelForm

    told: list[dict[str, Any]] = []
    source: Any = SimpleNamespace(one="record")  # its values are asked for once somebody looks
    with nicegui.Client(nicegui.ui.page("/form"), request=None) as client:
        ModelForm("shared-values", {"m": 3, "sensitive": "ill"}, ["ill"], source, told.append)
    drawn = [each for each in client.elements.values() if "label" in each.props]
    fields = {each.props["label"]: each for each in drawn}
    assert set(fields) == {"m", "Sensitive column", "Values to protect"}
    (switch,) = (each for each in client.elements.values() if isinstance(each, nicegui.ui.switch))
    switch.set_value(True)
    fields["m"].set_value(4)
    assert told[-1] == {"m": 4, "sensitive": "ill", "more": True}
    assert MODELS["shared-values"](**told[-1]).smallest_group == 5


@pytest.mark.usefixtures("toy")
def test_the_worker_of_the_page_makes_its_release(tmp_path: Path) -> None:
    from incrowd.serve.workspace._worker import Teller, release

    FRAME.write_csv(tmp_path / "patients.csv")
    policy = tmp_path / "policy.yaml"
    policy.write_text(yaml.safe_dump(POLICY), encoding="utf-8")
    report = tmp_path / "private.html"
    found = release(Teller(io.StringIO()), str(policy), str(tmp_path / "made"), str(report))
    assert found["verified"] is True
    title = "shared-values (m=3, sensitive=disease, more=False, for 1 listed value)"
    assert title in [each["promise"] for each in found["findings"]]
    shown = (tmp_path / "made" / "report.html").read_text(encoding="utf-8")
    assert "among: … 1 entry in the policy file" in shown


@pytest.mark.usefixtures("toy")
def test_values_that_it_lists_are_texts_and_published_only_where_a_record_has_them(
    tmp_path: Path,
) -> None:
    listed = {"shared-values": {"m": 2, "among": [70, 1.50, True], "sensitive": "disease"}}
    text = yaml.safe_dump(POLICY | {"privacy": [listed]}).replace("1.5", "1.50")
    model = Policy.from_yaml(text).privacy[0]
    assert model.listed_values == ("70", "1.50", "true")
    promise: Any = model.promise_about({"disease": {"70", "HIV"}})
    assert promise["parameters"]["among"] == ["70"]
    with pytest.raises(PrivacyError, match="every record with one of the values listed"):
        model.promise_about({"disease": {"HIV"}})
    absent = {"shared-values": {"m": 2, "among": ["Ebola"]}}
    with pytest.raises(ParameterError, match="1 of the values listed for 'disease' do not occur"):
        incrowd.anonymize(FRAME, POLICY | {"privacy": [absent]})

    incrowd.anonymize(FRAME, POLICY).save(tmp_path / "release")
    manifest = json.loads((tmp_path / "release" / "manifest.json").read_text(encoding="utf-8"))
    manifest["promises"][0]["parameters"]["among"] = ["HIV", "Ebola"]
    write(sealed(manifest), tmp_path / "release")
    (failing,) = (each for each in incrowd.verify(tmp_path / "release").findings if not each.holds)
    assert "is about 1 value of 'disease' that no record has" in failing.detail


@pytest.mark.usefixtures("toy")
def test_its_parameters_may_be_compared(tmp_path: Path) -> None:
    over = {"m": [2, 5], "start": [0, 3]}
    found = incrowd.compare([POLICY], FRAME, over=over, queries=0, output=tmp_path / "compared")
    assert [each.promises for each in found] == [
        (f"shared-values (m={m}, sensitive=disease, more=False)",) for m in (2, 2, 5, 5)
    ]
    page = (tmp_path / "compared" / "index.html").read_text(encoding="utf-8")
    assert "shared-values" in page
    assert "even-levels" in page


@pytest.mark.usefixtures("toy")
def test_hospitals_refuse_both_and_name_what_they_can_run() -> None:
    frugal = {"method": {"name": "top-down-specialization", "search": "frugal"}}
    with pytest.raises(
        PolicyError, match="shared-values does not run among hospitals; these do: k-ano"
    ):
        check_policy(Policy.from_mapping(POLICY | frugal))
    with pytest.raises(PolicyError, match=r"even-levels .* it asks for more than sums may tell"):
        check_policy(Policy.from_mapping(POLICY))


class OverSums(MethodOptions):
    """A method that asks for no more than hospitals answer."""

    name: ClassVar[str] = "over-sums"
    needs: ClassVar[type] = Counts

    def decide(self, task: Any) -> Any:
        """Never asked."""


@pytest.mark.usefixtures("toy")
def test_hospitals_refuse_a_method_over_sums_for_what_it_lacks() -> None:
    policy = Policy.from_mapping({**POLICY, "privacy": [{"k-anonymity": {"k": 2}}]})
    with pytest.raises(
        PolicyError,
        match=r"over-sums .* steps that it does not have. Say `method: {name: top-down-spec",
    ):
        check_policy(policy.model_copy(update={"method": OverSums()}))
    with pytest.raises(
        PolicyError, match=r"Only top-down-specialization goes step by step.* even-levels"
    ):
        incrowd.specialize(FRAME, policy)


@pytest.mark.usefixtures("toy")
def test_the_contract_of_every_model_and_method_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent / "contract")
    checks, patients = map(importlib.import_module, ("contract_checks", "patients"))
    own = [*patients.OPTIONS, {"method": {"name": "even-levels", "start": 0}}]
    for module in (checks, patients):
        monkeypatch.setattr(module, "OPTIONS", own)
    monkeypatch.setitem(checks.PRIVACY, "shared", [{"shared-values": {"m": 2, "sensitive": "ill"}}])
    for option in (*checks.ONE_EACH, len(own) - 1):
        checks.hold_all(("shared", option, 0.1))
    for privacy in checks.BY_EVERY_OPTION:
        checks.hold_all((privacy, len(own) - 1, 0.0))


@pytest.mark.parametrize(
    ("group", "name", "place", "told"),
    [
        (
            "incrowd.models",
            "of-nobody",
            "nowhere.to:Find",
            r"cannot be loaded \(ModuleNotFoundError",
        ),
        ("incrowd.models", "of-nobody", "toy.model:SharedValues", "is not one of that name"),
        ("incrowd.models", "k-anonymity", "toy.model:SharedValues", "has a name that is taken"),
        ("incrowd.models", "shared-values", "toy.method:Other", "has a name that is taken"),
        ("incrowd.methods", "of-nobody", "toy.model:SharedValues", "is not one of that name"),
        ("incrowd.methods", "mondrian", "toy.method:EvenLevels", "has a name that is taken"),
        ("incrowd.judges", "of-nobody", "toy.judge:judge", "is not one of that name"),
    ],
)
@pytest.mark.usefixtures("toy")
def test_what_is_broken_is_refused_with_the_package_that_brings_it(
    group: str, name: str, place: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "more", "incrowd-wrong", {group: {name: place}})
    monkeypatch.syspath_prepend(tmp_path / "more")
    forget()
    registry = next(each for each in REGISTRIES if each._group == group)
    taken = name == "shared-values"
    by = "'incrowd-(wrong|toy)'" if taken else "'incrowd-wrong'"
    with pytest.raises(InputError, match=f"'{name}' that {by} registers {told}"):
        list(registry.values())
    assert registry["k-anonymity" if registry is not METHOD_OPTIONS else "mondrian"]
    chosen = {"privacy": [{"k-anonymity": {"k": 2}}], "method": "auto"}
    assert Policy.from_mapping(POLICY | chosen).method.name == "mondrian"
