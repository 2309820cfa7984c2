"""The command line as a user meets it: real processes, exit codes, stdout and stderr."""

import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from command_line import process, run

CSV = "id,age,sex,disease\n" + "".join(
    f"{n},{20 + n % 40},{'MF'[n % 2]},{('Flu', 'HIV', 'Ulcer')[n % 3]}\n" for n in range(60)
)
POLICY = """
source: data.csv
attributes:
  id: identifier
  age: quasi
  sex: quasi
  disease: sensitive
privacy:
  - k-anonymity: {k: 3}
  - l-diversity: {l: 2}
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    (tmp_path / "data.csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def test_from_a_csv_file_to_a_verified_release(job: Path) -> None:
    made = process("anonymize", "policy.yaml", "--json", cwd=job)
    assert made.returncode == 0, made.stderr
    summary = json.loads(made.stdout)
    assert summary["verified"] is True
    assert summary["records"]["published"] == 60
    assert process("verify", "release", cwd=job).returncode == 0
    assert run("verify", "release", "--memory", "300MB", cwd=job).returncode == 0
    refused = run("verify", "release", "--memory", "much", cwd=job)
    assert (refused.returncode, "as in 4GB or 512MB" in refused.stderr) == (2, True)
    assert json.loads(run("evaluate", "release", "--json", cwd=job).stdout)


def test_spellings_of_one_value_are_told_without_showing_them(job: Path) -> None:
    head, *lines = CSV.splitlines()
    lines = [f"{line} " if n % 2 else line.lower() for n, line in enumerate(lines)]
    (job / "data.csv").write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
    made = run("anonymize", "policy.yaml", cwd=job)
    assert made.returncode == 0, made.stderr
    assert "Column 'disease': " in made.stderr
    assert "written in" in made.stderr
    released = (job / "release" / "data.csv").read_text(encoding="utf-8").splitlines()[1:]
    values = {line.rpartition(",")[2] for line in released}
    assert len({value.strip().lower() for value in values}) == len(values)
    assert not any(value.strip().lower() in made.stderr.lower() for value in values)


def test_init_writes_a_policy_that_runs(job: Path) -> None:
    written = run("init", "data.csv", "-o", "start.yaml", cwd=job)
    assert written.returncode == 0, written.stderr
    assert run("anonymize", "start.yaml", "-o", "out", cwd=job).returncode == 0
    again = run("init", "data.csv", "-o", "start.yaml", cwd=job)
    assert again.returncode == 2
    assert "--force" in again.stderr


def test_init_gathers_the_visits_of_a_patient_unless_a_person_says_otherwise(job: Path) -> None:
    visits = "patient_id," + CSV.removeprefix("id,")
    lines = [f"P{n % 12},{line.split(',', 1)[1]}" for n, line in enumerate(CSV.splitlines()[1:])]
    (job / "data.csv").write_text("\n".join([visits.splitlines()[0], *lines]), encoding="utf-8")
    assert run("init", "data.csv", "-o", "start.yaml", cwd=job).returncode == 0
    text = (job / "start.yaml").read_text(encoding="utf-8")
    assert "# 'patient_id' has 12 different values in 60 rows: the rows of a patient are" in text
    done = run("anonymize", "start.yaml", "-o", "gathered", cwd=job)
    assert done.returncode == 0, done.stderr
    assert "Verified. gathered holds 12 patients in " in done.stdout
    plain = re.sub(r"    level: event.*\n", "", text)
    (job / "start.yaml").write_text(plain.replace("unit: patient_id\n", ""), encoding="utf-8")
    for command in (["anonymize", "start.yaml", "-o", "out"], ["policy", "check", "start.yaml"]):
        refused = run(*command, cwd=job)
        assert refused.returncode == 2
        assert "12 different values in 60 rows" in refused.stderr
        assert "`unit: row`" in refused.stderr
        assert "P1" not in refused.stderr
    assert not (job / "out").exists()
    (job / "start.yaml").write_text(
        plain.replace("unit: patient_id", "unit: row"), encoding="utf-8"
    )
    done = run("anonymize", "start.yaml", "-o", "out", cwd=job)
    assert done.returncode == 0, done.stderr
    assert "A patient with several records is not protected as one" in " ".join(done.stdout.split())
    judged = run("verify", "out", "--json", cwd=job)
    assert json.loads(judged.stdout)["unit"] == "row"


def test_init_writes_row_where_nothing_tells_patients_apart(job: Path) -> None:
    plain = "\n".join(line.split(",", 1)[1] for line in CSV.splitlines())
    (job / "data.csv").write_text(plain, encoding="utf-8")
    assert run("init", "data.csv", "-o", "start.yaml", cwd=job).returncode == 0
    assert "another patient?" in (job / "start.yaml").read_text(encoding="utf-8")
    done = run("anonymize", "start.yaml", "-o", "out", "--json", cwd=job)
    assert (done.returncode, json.loads(done.stdout)["unit"]) == (0, "row")


def test_risk_needs_no_policy(job: Path) -> None:
    found = run(
        "risk", "data.csv", "--quasi", "age,sex", "--sensitive", "disease", "--json", cwd=job
    )
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["records"] == 60
    wrong = run("risk", "data.csv", "--quasi", "ages", cwd=job)
    assert wrong.returncode == 2
    assert "'age'" in wrong.stderr


def test_a_linkage_attack_finds_nobody_in_a_release(job: Path) -> None:
    assert run("anonymize", "policy.yaml", "-q", cwd=job).returncode == 0
    (job / "voters.csv").write_text("name,age,sex\nAnn,21,F\nBob,30,M\n", encoding="utf-8")
    found = run("attack", "release", "--linkage", "voters.csv", "--json", cwd=job)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["matched_one"] == 0


def test_data_comes_with_a_policy_that_runs(tmp_path: Path) -> None:
    assert run("data", "cancer-registry", "--rows", "500", cwd=tmp_path).returncode == 0
    done = run("anonymize", "cancer-registry.yaml", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    # In so few records some have a time to recurrence of their own: said, as it is the target.
    assert "6 of 500 records are unique on the columns published as they are" in done.stdout
    assert run("verify", "out", cwd=tmp_path).returncode == 0


def test_the_schema_is_json(tmp_path: Path) -> None:
    assert json.loads(run("policy", "schema", cwd=tmp_path).stdout)["properties"]["privacy"]


def test_commands_are_listed_in_the_order_of_the_work(tmp_path: Path) -> None:
    shown = re.findall(r"^│ ([a-z]+) ", run("--help", cwd=tmp_path).stdout, flags=re.MULTILINE)
    assert shown[:7] == ["demo", "init", "anonymize", "data", "risk", "attack", "verify"]
    assert shown[-4:] == ["serve", "policy", "key", "federation"]


def test_quiet_prints_nothing(job: Path) -> None:
    done = run("anonymize", "policy.yaml", "--quiet", cwd=job)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_command_has_an_example_in_its_help(tmp_path: Path) -> None:
    for command in (
        "demo", "init", "anonymize", "verify", "risk", "attack", "evaluate", "data", "serve",
    ):  # fmt: skip
        shown = run(command, "--help", cwd=tmp_path)
        assert f"incrowd {command}" in shown.stdout, command
        assert "Example" in shown.stdout, command


def test_a_tampered_release_exits_with_1_and_says_what_broke(job: Path) -> None:
    run("anonymize", "policy.yaml", "-q", cwd=job)
    data = job / "release" / "data.csv"
    data.write_text(data.read_text(encoding="utf-8").replace("Flu", "HIV", 1), encoding="utf-8")
    judged = run("verify", "release", "-q", cwd=job)
    assert judged.returncode == 1
    assert "files are the released ones" in judged.stderr


BAD_POLICIES = {
    "not YAML": ("a: [b", "not a YAML file"),
    "k below 2": (POLICY.replace("k: 3", "k: 1"), "at least 2"),
    "k above the rows": (POLICY.replace("k: 3", "k: 61"), "60 records"),
    "no quasi-identifier": (POLICY.replace("quasi", "keep"), "role quasi"),
    "column not in the file": (POLICY.replace("  age:", "  aged:"), "Did you mean 'age'?"),
    "column without a role": (POLICY.replace("  sex: quasi\n", ""), "have no role"),
    "unknown key": (POLICY + "\nouput: x\n", "Did you mean 'output'?"),
    "text in a numeric column": (
        POLICY.replace("  sex: quasi", "  sex: {role: quasi, type: numeric}"),
        "Column 'sex'",
    ),
    "value outside its hierarchy": (
        POLICY.replace("  sex: quasi", "  sex: {role: quasi, hierarchy: {tree: {any: [M]}}}"),
        "30 records",
    ),
    "output is the source": (POLICY + "\noutput: data.csv\n", "source itself"),
    "output is another folder": (POLICY + "\noutput: other\n", "not a release"),
}


@pytest.mark.parametrize("name", BAD_POLICIES)
def test_bad_policies_exit_with_2_and_write_nothing(job: Path, name: str) -> None:
    text, told = BAD_POLICIES[name]
    (job / "policy.yaml").write_text(text, encoding="utf-8")
    (job / "other").mkdir()
    (job / "other" / "thesis.doc").write_text("")
    before = sorted(path.name for path in job.rglob("*"))
    done = run("anonymize", "policy.yaml", cwd=job)
    assert done.returncode == 2, done.stderr
    assert told in done.stderr
    assert done.stdout == ""
    assert sorted(path.name for path in job.rglob("*")) == before


BAD_SOURCES = {
    "empty": b"",
    "header only": b"id,age,sex,disease\n",
    "ragged": b"id,age,sex,disease\n1,2,M\n",
    "duplicate columns": b"id,age,age,disease\n1,2,3,4\n",
    "wrong encoding": "id,age,sex,disease\n1,2,M,Grüße\n".encode("latin-1"),
    "binary": bytes(range(256)) * 8,
    "10,000 columns": (",".join(f"c{n}" for n in range(10_000)) + "\n").encode() * 2,
}


@pytest.mark.parametrize("name", BAD_SOURCES)
def test_bad_sources_exit_with_2_and_write_nothing(job: Path, name: str) -> None:
    (job / "data.csv").write_bytes(BAD_SOURCES[name])
    done = run("anonymize", "policy.yaml", cwd=job)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert not (job / "release").exists()


def test_a_source_that_is_not_there(job: Path) -> None:
    (job / "data.csv").rename(job / "datas.csv")
    done = run("anonymize", "policy.yaml", cwd=job)
    assert done.returncode == 2
    assert "datas.csv" in done.stderr


def test_unreachable_privacy_exits_with_1_and_says_the_best(job: Path) -> None:
    (job / "policy.yaml").write_text(POLICY.replace("l: 2", "l: 4"), encoding="utf-8")
    done = run("anonymize", "policy.yaml", cwd=job)
    assert done.returncode == 1
    assert "l = 3" in done.stderr
    assert not (job / "release").exists()


def test_no_cell_is_in_an_error(job: Path) -> None:
    secret = "Xanthippe"
    (job / "data.csv").write_text(CSV + f"60,{secret},M,Flu\n", encoding="utf-8")
    (job / "policy.yaml").write_text(
        POLICY.replace("  age: quasi", "  age: {role: quasi, type: numeric}"), encoding="utf-8"
    )
    done = run("anonymize", "policy.yaml", cwd=job)
    assert done.returncode == 2
    assert "record 61" in done.stderr
    assert secret not in done.stderr + done.stdout


def test_a_fault_shows_no_traceback(job: Path) -> None:
    code = (
        "import incrowd.pipeline as a, sys\n"
        "a.Job.searched = lambda self: 1 / 0\n"
        "sys.argv = ['incrowd', 'anonymize', 'policy.yaml']\n"
        "from incrowd.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=job, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "ZeroDivisionError" in done.stderr


def test_the_demo_shows_the_attack_before_and_after(tmp_path: Path) -> None:
    done = run("demo", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["attack_before"]["matched_one"] > 4_000
    assert told["attack_after"]["matched_one"] == 0
    assert told["verified"] is True
    assert pl.read_csv(tmp_path / "incrowd-demo" / "release" / "data.csv").height == 72_194


def test_an_interrupt_leaves_nothing_behind(job: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from incrowd.publish import manifest\n"
        "manifest.describe_file = lambda *_: os.kill(os.getpid(), signal.SIGINT) or {}\n"
        "sys.argv = ['incrowd', 'anonymize', 'policy.yaml']\n"
        "from incrowd.cli import main; main()"
    )
    before = sorted(path.name for path in job.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=job, capture_output=True, text=True, check=False
    )
    assert done.returncode == 130
    assert "nothing was written" in done.stderr
    assert sorted(path.name for path in job.iterdir()) == before


def test_data_replaces_no_file_unasked(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("precious")
    refused = run("data", "adult", "-o", "mine.csv", "--rows", "5", cwd=tmp_path)
    assert refused.returncode == 2
    assert (tmp_path / "mine.csv").read_text() == "precious"
    assert (
        run("data", "adult", "-o", "mine.csv", "--rows", "5", "--force", cwd=tmp_path).returncode
        == 0
    )


def test_a_release_inside_a_release_is_refused(job: Path) -> None:
    assert run("anonymize", "policy.yaml", "-q", cwd=job).returncode == 0
    inner = run("anonymize", "policy.yaml", "-o", "release/inner", cwd=job)
    assert inner.returncode == 2
    assert "inside the release" in inner.stderr
    assert run("verify", "release", "-q", cwd=job).returncode == 0


def test_auto_tells_which_method_it_took(job: Path) -> None:
    (job / "policy.yaml").write_text(POLICY + "method: auto\n", encoding="utf-8")
    done = run("anonymize", "policy.yaml", cwd=job)
    assert done.returncode == 0, done.stderr
    assert "auto took mondrian" in done.stderr


STEPWISE = POLICY.replace("  - l-diversity: {l: 2}\n", "") + "method: top-down-specialization\n"


def test_a_trace_tells_every_step_and_may_stop_early(job: Path) -> None:
    (job / "policy.yaml").write_text(STEPWISE, encoding="utf-8")
    whole = json.loads(run("anonymize", "policy.yaml", "--trace", "--json", cwd=job).stdout)
    numbers = [step["step"] for step in whole["trace"]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= 2
    assert whole["trace"][-1]["groups"] == whole["groups"]["count"]
    assert whole["trace"][0]["records_touched"] == whole["records"]["published"]
    again = ("anonymize", "policy.yaml", "--replace")
    short = run(*again, "--trace", "--steps", "1", "--json", cwd=job)
    told = json.loads(short.stdout)
    assert told["trace"] == whole["trace"][:1]
    assert told["groups"]["count"] == whole["trace"][0]["groups"]
    assert run("verify", "release", "-q", cwd=job).returncode == 0
    manifest = json.loads((job / "release" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["method"]["steps"] == 1
    assert manifest["method"]["order"] in ("frugal", "gain", "greedy")
    silent = json.loads(run(*again, "--steps", "0", "--json", cwd=job).stdout)
    assert "trace" not in silent
    assert silent["groups"]["count"] == 1
    shown = run(*again, "--trace", cwd=job)
    assert "Steps" in shown.stdout
    assert f"{whole['trace'][0]['attribute']}" in shown.stdout


def test_only_a_stepwise_method_has_a_trace(job: Path) -> None:
    done = run("anonymize", "policy.yaml", "--trace", cwd=job)
    assert done.returncode == 2
    assert "top-down-specialization" in done.stderr


def test_evaluate_classifies_when_asked(job: Path) -> None:
    policy = POLICY.replace("disease: sensitive", "disease: target").replace(
        "  - l-diversity: {l: 2}\n", ""
    )
    (job / "policy.yaml").write_text(policy, encoding="utf-8")
    assert run("anonymize", "policy.yaml", "-q", cwd=job).returncode == 0
    asked = ("evaluate", "release", "--original", "data.csv")
    assert json.loads(run(*asked, "--json", cwd=job).stdout)["classification"] is None
    told = json.loads(run(*asked, "--classify", "--json", cwd=job).stdout)["classification"]
    assert (told["target"], told["classes"], told["records"]) == ("disease", 3, 60)
    assert told["cost"] == told["ce"]["mean"] - told["be"]["mean"]
    shown = run(*asked, "--classify", "--target", "disease", cwd=job)
    assert shown.returncode == 0, shown.stderr
    assert "Error in predicting disease (3 classes)" in shown.stdout
    assert "original records (BE)" in shown.stdout
    alone = run(*asked, "--target", "disease", cwd=job)
    assert alone.returncode == 2
    assert "--classify" in alone.stderr


def test_a_release_without_a_class_cannot_be_classified(job: Path) -> None:
    assert run("anonymize", "policy.yaml", "-q", cwd=job).returncode == 0
    done = run("evaluate", "release", "--classify", cwd=job)
    assert done.returncode == 2
    assert "role: target" in done.stderr


def test_a_private_report_goes_where_it_is_asked_to_and_in_no_release(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [30, 31, 50, 52], "ill": ["Flu", "HIV", "Flu", "Flu"]})
    frame.write_csv(tmp_path / "patients.csv")
    wanted = {
        "source": "patients.csv",
        "attributes": {"age": "quasi", "ill": "sensitive"},
        "privacy": [{"k-anonymity": {"k": 2}}],
    }
    (tmp_path / "policy.yaml").write_text(json.dumps(wanted), encoding="utf-8")
    told = ("anonymize", "policy.yaml", "--private-report")
    refused = run(*told, "release/private.html", cwd=tmp_path)
    assert refused.returncode == 2
    assert "not for publication" in refused.stderr
    assert not (tmp_path / "release").exists()
    done = run(*told, "private.html", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["private_report"] == "private.html"
    assert "not for publication" in (tmp_path / "private.html").read_text(encoding="utf-8")
    assert "private.html" in run(*told, "private.html", "--replace", cwd=tmp_path).stdout
