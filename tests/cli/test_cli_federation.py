"""`incrowd federation …` as a user meets it: kits, refusals, and what the log says first."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import command_line
from command_line import Ended
from incrowd.cli.output.federation import who_sees_what
from incrowd.federation import load_kit
from incrowd.policy import Policy
from incrowd.sources import as_source

EXAMPLE = Path(__file__).parents[2] / "examples" / "hospitals"
NAMES = ["North", "South End", "West"]
PARTIES = [word for name in NAMES for word in ("--party", name)]


def run(*arguments: str | Path, cwd: Path) -> Ended:
    return command_line.run("federation", *arguments, cwd=cwd)


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, with kits."""
    folder = tmp_path_factory.mktemp("job") / "job"
    shutil.copytree(EXAMPLE, folder)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    made = run("init", "policy.yaml", *PARTIES, "--address", address, "--json", cwd=folder)
    assert made.returncode == 0, made.stderr
    (folder / "made.json").write_text(made.stdout)
    return folder


def changed(folder: Path, old: str, new: str) -> Path:
    """The example's policy with another word in it."""
    for name in ("hierarchies", "policy.yaml"):
        path = EXAMPLE / name
        (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / name)
    text = (EXAMPLE / "policy.yaml").read_text(encoding="utf-8")
    assert old in text
    (folder / "policy.yaml").write_text(text.replace(old, new), encoding="utf-8")
    return folder / "policy.yaml"


def test_init_tells_what_to_send_to_whom_and_what_to_compare(tmp_path: Path) -> None:
    address = "north.example.org:8443"
    out = tmp_path / "kits"
    made = run("init", EXAMPLE / "policy.yaml", *PARTIES, "--address", address, "-o", out,
               "--leader", "West", cwd=tmp_path)  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert "incrowd federation join 'South End' --data FILE" in made.stdout
    assert "incrowd federation lead West --data FILE" in made.stdout
    assert f"West leads and listens at {address}" in made.stdout
    shown = " ".join(re.findall(r"^    ((?:[0-9a-f]{4} ?){8})$", made.stdout, re.MULTILINE))
    assert shown in (out / "North" / "README.md").read_text(encoding="utf-8")
    assert len(shown.split()) == 16
    assert [load_kit(out / name).leads for name in NAMES] == [False, False, True]


def test_init_for_machines(job: Path) -> None:
    told = json.loads((job / "made.json").read_text())
    assert [each["name"] for each in told["hospitals"]] == NAMES
    kit = load_kit(job / told["hospitals"][1]["kit"])
    assert (kit.name, kit.leads, kit.consortium.sums) == ("South End", False, "masked")
    assert told["leader"] == "North"
    assert told["fingerprint"] in (job / "kits" / "West" / "README.md").read_text(encoding="utf-8")


def test_two_hospitals_and_ring_sums_need_a_switch_and_are_warned_of(tmp_path: Path) -> None:
    two = ["--party", "A", "--party", "B", "--address", "localhost:8443", "-o", "kits"]
    refused = run("init", EXAMPLE / "policy.yaml", *two, cwd=tmp_path)
    assert refused.returncode == 2
    assert "any sum minus one's own value is the other's" in refused.stderr
    assert "--allow-two" in refused.stderr
    assert list(tmp_path.iterdir()) == []
    made = run("init", EXAMPLE / "policy.yaml", *two, "--allow-two", "--sums", "ring", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "warning: With two parties, any sum minus one's own value" in made.stderr
    assert "warning: With ring sums, the two neighbours of a hospital" in made.stderr


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("{name: top-down-specialization, search: gain}", "mondrian", "top-down-specialization"),
        ("{tree: [Female, Male]}", "auto", "attributes.sex"),
        ("search: gain", "search: best", "Name one search"),
        ("goal:", "hospitals: {reveal: counts}\ngoal:", "trust: honest"),
        ("goal:", "hospitals: {trust: honest, m: 2}\ngoal:", "protect: joint"),
        ("lkc: {L: 2, K: 10, C: 0.33, sensitive: diagnosis}", "l-diversity: {l: 2}", "l-diversity"),
        ("method:", "methods:", "Did you mean 'method'?"),
    ],
)
def test_a_policy_that_cannot_be_run_among_hospitals_is_refused(
    tmp_path: Path, old: str, new: str, told: str
) -> None:
    policy = changed(tmp_path, old, new)
    before = sorted(tmp_path.iterdir())
    three: list[str | Path] = ["--address", "localhost:8443", "-o", tmp_path / "kits"]
    refused = run("init", policy, *PARTIES, *three, cwd=tmp_path)
    assert refused.returncode == 2, refused.stderr
    assert told in refused.stderr
    files = [EXAMPLE / f"{name}.csv" for name in ("north", "south", "west")]
    refused = run("rehearse", policy, *files, "-o", tmp_path / "out", cwd=tmp_path)
    assert refused.returncode == 2, refused.stderr
    assert told in refused.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_hospitals_that_make_their_own_keys(tmp_path: Path) -> None:
    prints = []
    for name in NAMES:
        host = ["--host", "north.example.org"] if name == "North" else []
        made = run("enrol", name, "-o", name, *host, "--json", cwd=tmp_path)
        assert made.returncode == 0, made.stderr
        told = json.loads(made.stdout)
        shutil.copy(tmp_path / told["member"], tmp_path / f"{name}.yaml")
        prints.append(told["fingerprint"])
    members = [f"{name}.yaml" for name in NAMES]
    address = ["--address", "north.example.org:8443"]
    refused = run(
        "assemble", EXAMPLE / "policy.yaml", *members, "--leader", "West", *address, cwd=tmp_path
    )
    assert refused.returncode == 2
    assert "Let West enrol again with `--host north.example.org`" in refused.stderr
    made = run("assemble", EXAMPLE / "policy.yaml", *members, *address, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert all(each in made.stdout for each in prints)
    sent = tmp_path / "consortium"
    assert not any(b"PRIVATE" in path.read_bytes() for path in sent.rglob("*") if path.is_file())
    fingerprints = set()
    for name in NAMES:
        done = run("complete", name, "consortium", "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        fingerprints.add(json.loads(done.stdout)["fingerprint"])
        kit = load_kit(tmp_path / name)
        assert (kit.name, kit.leads) == (name, name == "North")
    assert len(fingerprints) == 1
    again = run("complete", "North", "consortium", cwd=tmp_path)
    assert again.returncode == 2
    assert "has a consortium already" in again.stderr


def test_complete_and_assemble_refuse_what_does_not_belong_together(tmp_path: Path) -> None:
    for name in ("A", "B", "C", "D"):
        assert (
            run("enrol", name, "-o", name, "--host", "localhost", "-q", cwd=tmp_path).stdout == ""
        )
    start: list[str | Path] = ["assemble", EXAMPLE / "policy.yaml", "--address", "localhost:8443"]
    cases = [
        (["A/member.yaml"], "at least two hospitals"),
        (["A/member.yaml", "B/member.yaml"], "--allow-two"),
        (["A/member.yaml", "B/member.yaml", "A/member.yaml"], "two parties have the same name"),
        (["A/member.yaml", "B/member.yaml", "C/tls.pem"], "tls.pem"),
        (["A/member.yaml", "B/member.yaml", "nowhere.yaml"], "'nowhere.yaml' cannot be read"),
    ]
    for members, told in cases:
        refused = run(*start, *members, cwd=tmp_path)
        assert refused.returncode == 2, told
        assert told in refused.stderr
        assert not (tmp_path / "consortium").exists()
    three = [f"{name}/member.yaml" for name in "ABC"]
    assert run(*start, *three, cwd=tmp_path).returncode == 0
    stranger = run("complete", "D", "consortium", cwd=tmp_path)
    assert stranger.returncode == 3
    assert "identity in this kit is not one that its consortium file pins" in stranger.stderr
    assert "`incrowd federation assemble`" in run("complete", "A", "B", cwd=tmp_path).stderr
    policy = tmp_path / "consortium" / "policy" / "policy.yaml"
    policy.write_text(policy.read_text(encoding="utf-8").replace("K: 10", "K: 2"))
    other = run("complete", "A", "consortium", cwd=tmp_path)
    assert other.returncode == 2
    assert "is not the one of the consortium" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["lead", "kits/West", "--data", "west.csv"], "Start it with `incrowd federation join`"),
        (["join", "kits/North", "--data", "north.csv"], "Start it with `incrowd federation lead`"),
        (["join", "kits/West"], "--data FILE"),
        (["join", "kits/West", "--data", "wets.csv"], "no file 'wets.csv'"),
        (["join", "kits/West", "--data", "west.csv", "--address", "here"], "write host:port"),
        (["lead", "kits/North", "--data", "north.csv", "--listen", "x:99999"], "write host:port"),
        (["join", "kits/West", "--data", "west.csv", "--proxy", "proxy:3128"], "is no proxy"),
        (["join", "kits/West", "--data", "west.csv", "--timeout", "0"], "more than 0 seconds"),
        (["join", "kits/West", "--data", "west.csv", "-o", "kits"], "is not a release"),
        (["join", "kits/West", "--data", "west.csv", "--log", "no/log"], "Cannot write the log"),
        (["join", "kits/West", "--data", "west.csv", "--share", "south.csv"], "south.csv' exists"),
        (["join", "kits", "--data", "west.csv"], "consortium file"),
        (["join", "nowhere", "--data", "west.csv"], "There is no kit 'nowhere'"),
    ],
)
def test_what_will_not_do_is_refused_before_anybody_is_dialled(
    job: Path, arguments: list[str], told: str
) -> None:
    before = sorted(job.iterdir())
    refused = run(*arguments, cwd=job)
    assert refused.returncode == 2, refused.stderr
    assert told in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert sorted(job.iterdir()) == before


def test_a_run_that_never_begins_leaves_its_log_and_nothing_else(job: Path) -> None:
    own = ["--data", "west.csv", "-o", "out", "--log", "west.log", "--joining", "0.5"]
    ended = run("join", "kits/West", *own, "--json", cwd=job)
    assert ended.returncode == 3
    assert ended.stdout == ""
    lines = (job / "west.log").read_text(encoding="utf-8").splitlines()
    assert ended.stderr.splitlines() == lines
    assert lines[0].startswith("Protection own: nobody needs to be trusted.")
    assert lines[1].startswith("3 hospitals: North (leads), South End, West; masked sums.")
    assert lines[-1].startswith("error: The run was stopped: the leader North cannot be reached")
    assert not list(job.glob("out*"))
    assert not list(job.glob(".out*"))


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts one hospital of a real run with its own records; none outlives the test."""
    started: list[subprocess.Popen[str]] = []

    def begin(*words: Any) -> subprocess.Popen[str]:
        started.append(_hospital(*words))
        return started[-1]

    yield begin
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()


def _hospital(job: Path, role: str, name: str, *more: str) -> subprocess.Popen[str]:
    file = {"North": "north.csv", "South End": "south.csv", "West": "west.csv"}[name]
    words = [role, f"kits/{name}", "--data", file, "-o", f"{name}-release", "--log", f"{name}.log"]
    return subprocess.Popen(
        [sys.executable, "-c", "from incrowd.cli import main; main()", "federation", *words, *more],
        cwd=job, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
    )  # fmt: skip


def test_three_hospitals_run_to_the_same_release(
    job: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    processes = {
        "West": start(job, "join", "West", "--json"),
        "South End": start(job, "join", "South End"),
        "North": start(job, "lead", "North", "--json"),
    }
    ended = {name: process.communicate(timeout=900) for name, process in processes.items()}
    for name, process in processes.items():
        assert process.returncode == 0, ended[name][1]
        said = ended[name][1].splitlines()  # the log, and how far the work is
        logged = (job / f"{name}.log").read_text(encoding="utf-8").splitlines()
        assert [line for line in said if not line.endswith("…")] == logged
    told = {name: json.loads(ended[name][0]) for name in ("North", "West")}
    assert told["North"]["leads"] is True
    assert [each["own_records"] for each in told.values()] == [320, 160]
    assert [each["records"] for each in told.values()] == [720, 720]
    assert told["North"]["transcript"] == told["West"]["transcript"]
    assert f"transcript: {told['North']['transcript']}" in ended["South End"][1]
    for name in ("manifest.json", "data.csv"):
        assert len({(job / f"{each}-release" / name).read_bytes() for each in NAMES}) == 1
    shown = ended["South End"][0]
    assert "720 records of 3 hospitals, 240 of them of South End" in shown
    assert "South End-release-share.csv shows your own records" in shown
    last = ended["North"][1].splitlines()[-5:]
    assert last[0] == "release: North-release, verified"
    assert last[3].startswith(f"{told['North']['sums']} answers opened, ")
    assert last[4].endswith(", 0 of them of 1 to K - 1 records")
    assert told["North"]["opened"]["small"] == 0
    for name in NAMES:
        (job / f"{name}.log").unlink()
        (job / f"{name}-release-share.csv").unlink()
        shutil.rmtree(job / f"{name}-release")


def test_a_leader_that_is_told_to_end_tells_the_others(
    job: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    processes = {"North": start(job, "lead", "North"), "West": start(job, "join", "West")}
    lines = processes["North"].stderr
    assert lines is not None
    for line in lines:
        if "West has joined" in line:
            break
    processes["North"].terminate()
    ended = {name: process.communicate(timeout=900) for name, process in processes.items()}
    assert processes["North"].returncode == 130
    assert ended["North"][1].endswith("interrupted: nothing was written\n")
    assert processes["West"].returncode == 3
    assert ended["West"][1].endswith("The run was stopped: North stopped: it was interrupted.\n")
    assert (job / "North.log").read_text(encoding="utf-8").endswith("interrupted\n")
    for name in processes:
        assert not [*job.glob(f"{name}-release*"), *job.glob(f".{name}-release*")]
        (job / f"{name}.log").unlink()


def kit_of(folder: Path, names: list[str], policy: Path, **options: Any) -> list[str]:
    """What the log of a run says first, in a consortium of these hospitals."""
    from incrowd.federation import make_kits

    consortium = make_kits(folder / "kits", names, policy, "localhost:8443", **options)
    return who_sees_what(consortium, Policy.from_file(policy), ["ward is not published"])


def test_the_log_says_who_sees_what_as_it_is_in_this_run(tmp_path: Path) -> None:
    policy = EXAMPLE / "policy.yaml"
    many = {"A": 320, "B": 240, "C": 160, "D": 60_000}
    said = "\n".join(kit_of(tmp_path, list("ABCD"), policy, leader="C", records=many))
    assert "4 hospitals: C (leads), A, B, D; masked sums" in said
    assert said.startswith("Protection own: nobody needs to be trusted.")
    assert "any 3 hospitals together: what the last one added to the sums" in said
    assert "rounds to multiples of 10 before they leave it; nothing below 10 is in them" in said
    assert "whether any hospital objects to a specialization for the sake of its own" in said
    assert "WARNING" not in said
    first = said.partition("\n")[0]
    assert "no patient may be in two hospitals: nobody sees it, and a patient of two" in first
    assert "agreed: A 320, B 240, C 160, D 60,000; the run stops unless they are 60,720" in said
    assert said.endswith("- ward is not published")


def test_the_log_warns_of_ring_sums_and_of_two(tmp_path: Path) -> None:
    policy = EXAMPLE / "policy.yaml"
    said = "\n".join(kit_of(tmp_path, ["A", "B"], policy, sums="ring", allow_two=True))
    assert "WARNING: With two parties, any sum minus one's own value is the other's" in said
    assert "WARNING: With ring sums, the two neighbours" in said
    assert "sealed running sums" in said
    assert "any 1 hospitals" not in said


def test_the_log_warns_of_numbers_that_were_not_agreed(tmp_path: Path) -> None:
    policy = EXAMPLE / "policy.yaml"
    said = "\n".join(kit_of(tmp_path, list("ABC"), policy, records={"A": 320, "C": 160}))
    assert "WARNING: No number of records is agreed for B: a hospital may bring as many" in said


def test_init_and_enrol_take_the_numbers_of_records(tmp_path: Path) -> None:
    stated = ["--records", "North=320", "--records", "South End=240", "--records", "West=60,000"]
    asked: list[str | Path] = [
        "init",
        EXAMPLE / "policy.yaml",
        *PARTIES,
        "--address",
        "localhost:8443",
        *stated,
    ]
    made = run(*asked, "-o", "kits", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert re.search(r"West +60,000 +kits/West", made.stdout), made.stdout
    assert "agreed" not in made.stderr
    assert load_kit(tmp_path / "kits" / "West").consortium.records == 60_560
    refused = run(*asked[:-1], "Wset=160", "-o", "other", cwd=tmp_path)
    assert (refused.returncode, "Did you mean 'West'?" in refused.stderr) == (2, True)
    made = run("enrol", "North", "--records", "320", "-o", "north", "--json", cwd=tmp_path)
    assert json.loads(made.stdout)["records"] == 320
    assert "records: 320" in (tmp_path / "north" / "member.yaml").read_text(encoding="utf-8")
    without = run(*asked[:-6], "-o", "without", cwd=tmp_path)
    assert "warning: No number of records is agreed for North, South End, West" in without.stderr


def made_kits(folder: Path, names: str, *options: str) -> Path:
    """Kits of some hospitals, of which the first leads."""
    asked = [word for name in names for word in ("--party", name)]
    made = run("init", EXAMPLE / "policy.yaml", *asked, "--address", "localhost:8443",
               "-o", names, *options, cwd=folder)  # fmt: skip
    assert made.returncode == 0, made.stderr
    return folder / names


def test_a_hospital_does_not_join_others_than_before_nor_with_other_records(tmp_path: Path) -> None:
    from incrowd.federation.membership.ledgers import Ledger
    from incrowd.federation.run._history import History
    from incrowd.federation.run._own_records import read_own

    kit = load_kit(made_kits(tmp_path, "ABC") / "B")
    History(kit, read_own(as_source(EXAMPLE / "south.csv"), kit.policy), Ledger()).begin()
    others = made_kits(tmp_path, "ABD", "--records", "B=240")
    refused = run("join", others / "B", "--data", EXAMPLE / "south.csv", cwd=tmp_path)
    assert refused.returncode == 2
    assert "must consent; missing: A, B, D, C. Each says `incrowd fed" in refused.stderr
    refused = run("join", others / "B", "--data", EXAMPLE / "north.csv", cwd=tmp_path)
    assert refused.returncode == 2
    assert "agreed that B brings 240 records, and here are 320" in refused.stderr


def test_consent_tells_what_may_be_seen_and_where_the_file_goes(tmp_path: Path) -> None:
    for names in ("ABC", "ABD"):
        made_kits(tmp_path, names)
    given = run("consent", "ABC/C", "--new", "ABD/A/consortium.yaml", cwd=tmp_path)
    assert given.returncode == 0, given.stderr
    shown = " ".join(given.stdout.split())
    assert "C consents to this being seen: The earlier run was of A, B, C; the new one" in shown
    assert "counts of C on one side and of D on the other" in shown
    (written,) = (tmp_path / "ABC" / "C" / "consents").iterdir()
    assert f"ABC/C/consents/{written.name}" in shown
    told = run("consent", "ABD/D", "--earlier", "ABC/A", "-o", "d.yaml", "--json", cwd=tmp_path)
    assert json.loads(told.stdout)["hospital"] == "D"
    assert (tmp_path / "d.yaml").read_text(encoding="utf-8").startswith("format: incrowd-consent/1")
    refused = run("consent", "ABD/A", cwd=tmp_path)
    assert refused.returncode == 2
    assert "one of --earlier and --new" in refused.stderr


def test_the_log_says_what_bits_change(tmp_path: Path) -> None:
    policy = changed(tmp_path, "goal:", "hospitals: {reveal: bits, m: 2}\ngoal:")
    said = "\n".join(kit_of(tmp_path, list("ABCDE"), policy))
    assert said.startswith("Protection joint: the release keeps the policy, also after any 2 hos")
    assert "whether a specialization is allowed, and then which labels" in said
    assert "more than 2 of the hospitals together: the counts behind such an answer" in said
    assert "objects" not in said


@pytest.mark.parametrize("m", [0, 1])
def test_the_log_says_what_honest_hospitals_risk(tmp_path: Path, m: int) -> None:
    asked = f"hospitals: {{trust: honest, m: {m}}}\ngoal:"
    said = "\n".join(kit_of(tmp_path, list("ABC"), changed(tmp_path, "goal:", asked)))
    assert said.startswith("Protection NONE among the hospitals (trust: honest)")
    assert "one that brings invented records, or is curious, can find out records" in said
    assert "also of specializations that are rejected, and may be small" in said
    assert ("or objects to a specialization" in said) is (m == 1)
    assert ("holds only if the hospital that is feared objects itself" in said) is (m == 1)


def test_bits_need_three_hospitals(tmp_path: Path) -> None:
    policy = changed(tmp_path, "goal:", "hospitals: {reveal: bits}\ngoal:")
    two = ["--party", "A", "--party", "B", "--address", "localhost:8443", "--allow-two"]
    refused = run("init", policy, *two, cwd=tmp_path)
    assert refused.returncode == 2
    assert "among 3 or more hospitals" in refused.stderr
    files = [EXAMPLE / "north.csv", EXAMPLE / "south.csv"]
    refused = run("rehearse", policy, *files, "--allow-two", "-o", "out", cwd=tmp_path)
    assert refused.returncode == 2
    assert "among 3 or more hospitals" in refused.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == ["hierarchies", "policy.yaml"]


def test_every_command_has_an_example_in_its_help(tmp_path: Path) -> None:
    shown = run("--help", cwd=tmp_path).stdout
    for command in ("init", "enrol", "assemble", "complete", "consent", "lead", "join", "rehearse"):
        assert command in shown
        assert f"incrowd federation {command}" in run(command, "--help", cwd=tmp_path).stdout


def test_the_command_line_loads_no_cryptography_before_it_is_needed(tmp_path: Path) -> None:
    code = "import sys, incrowd.cli; print([n for n in ('cryptography', 'httpx', 'polars') "
    loaded = subprocess.run(
        [sys.executable, "-c", code + "if n in sys.modules])"], capture_output=True, text=True,
        check=True, cwd=tmp_path,
    )  # fmt: skip
    assert loaded.stdout == "[]\n"
