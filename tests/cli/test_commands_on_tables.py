"""Commands on releases of several tables: verify with the original, query, attack, compare."""

import json
from pathlib import Path

import pytest

from command_line import run

CSV = "id,age,sex,disease,drug\n" + "".join(
    f"{n},{20 + n % 40},{'MF'[n % 2]},{('Flu', 'HIV', 'Ulcer')[n % 3]},{'abcde'[n % 5]}\n"
    for n in range(120)
)
POLICY = """
source: data.csv
attributes:
  id: identifier
  age: {role: quasi, type: numeric}
  sex: quasi
  disease: sensitive
  drug: sensitive
privacy: [{multi-sensitive: {k: 6, l: 3}}]
"""
MANNERS = {
    "generalized": "",
    "anatomy": "publish: anatomy\n",
    "lossy": "publish: lossy-join\n",
    "dealt": "publish: anatomy\nmethod: anatomize\n",
}


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    (folder / "data.csv").write_text(CSV, encoding="utf-8")
    (folder / "other.csv").write_text(CSV.replace(",a\n", ",b\n"), encoding="utf-8")
    for name, manner in MANNERS.items():
        (folder / f"{name}.yaml").write_text(POLICY + manner, encoding="utf-8")
    made = run("anonymize", "anatomy.yaml", "-o", "apart", cwd=folder)
    assert made.returncode == 0, made.stderr
    assert "--original FILE" in made.stdout
    return folder


def test_verify_leaves_open_what_only_the_original_settles(job: Path) -> None:
    plain = run("verify", "apart", cwd=job)
    assert plain.returncode == 0
    assert "Verified in part" in plain.stdout
    told = json.loads(run("verify", "apart", "--json", cwd=job).stdout)
    assert told["open"] == ["multi-sensitive (k=6, l=3, check=exact)"]
    assert [each["holds"] for each in told["findings"]].count(None) == 1
    settled = run("verify", "apart", "--original", "data.csv", cwd=job)
    assert settled.returncode == 0
    assert "all promises are kept" in settled.stdout
    other = run("verify", "apart", "--original", "other.csv", cwd=job)
    assert other.returncode == 1
    assert "original is the table it was made from" in other.stdout
    quiet = run("verify", "apart", "--original", "other.csv", "--quiet", cwd=job)
    assert quiet.returncode == 1
    assert "drug" in quiet.stderr


def test_query_counts_with_an_interval_and_bounds(job: Path) -> None:
    asked = ["query", "apart", "age between 31 and 47 and disease = 'Flu'"]
    found = json.loads(run(*asked, "--json", cwd=job).stdout)
    assert 10 < found["count"] < 30
    low, high = found["interval_95"]
    assert found["least"] <= low < found["count"] < high <= found["most"]
    shown = run(*asked, cwd=job).stdout
    assert f"95 %: {low} to {high}; between {found['least']} and {found['most']}" in shown
    whole = json.loads(run("query", "apart", "sex = F", "--json", cwd=job).stdout)
    assert (whole["count"], whole["least"], whole["most"], whole["exact"]) == (60, 60, 60, True)
    assert "60" in run("query", "apart", "sex = F", cwd=job).stdout
    wrong = run("query", "apart", "agee > 3", cwd=job)
    assert wrong.returncode == 2
    assert "age" in wrong.stderr


def test_values_are_ruled_out_before_and_after(job: Path) -> None:
    found = run("attack", "apart", "--eliminate", "1", "--original", "data.csv", cwd=job)
    assert found.returncode == 0, found.stderr
    assert "Before" in found.stdout
    told = json.loads(
        run(
            "attack", "apart", "--eliminate", "1", "--original", "data.csv", "--json", cwd=job
        ).stdout
    )
    assert told["exposed_multi"] == 0 < told["before"]["exposed_multi"]
    raw = ["attack", "data.csv", "--eliminate", "1", "--quasi", "age,sex", "--sensitive", "drug"]
    assert json.loads(run(*raw, "--json", cwd=job).stdout)["before"] is None


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ([], "--linkage LIST, --known LIST, --eliminate N"),
        (["--eliminate", "1", "--linkage", "data.csv"], "--known LIST, --eliminate N"),
        (["--similarity", "drug", "--eliminate", "1"], "or --similarity ATTRIBUTE"),
        (["--similarity", "drug", "--k", "3"], "--k cannot be used"),
        (["--similarity", "drug", "--level", "1"], "level"),
        (["--similarity", "drug", "--sensitive", "drug"], "--sensitive cannot be used"),
        (["--eliminate", "1", "--on", "age"], "--on cannot be used"),
        (["--eliminate", "1", "--policy", "p.yaml"], "--policy cannot be used with --eliminate"),
        (["--eliminate", "1", "--original", "data.csv", "--quasi", "age"], "with --original"),
        (["--linkage", "data.csv", "--quasi", "age"], "--quasi cannot be used with --linkage"),
        (["--linkage", "data.csv", "--sensitive", "drug"], "--sensitive cannot be used"),
        (["--eliminate", "0"], "from 1 to 10"),
    ],
)
def test_attacks_that_do_not_fit_are_refused(options: list[str], problem: str, job: Path) -> None:
    found = run("attack", "apart", *options, cwd=job)
    assert found.returncode == 2
    assert problem in found.stderr


def test_groups_are_read_for_similar_values(job: Path) -> None:
    asked = ["attack", "data.csv", "--similarity", "drug", "--quasi", "age,sex"]
    told = json.loads(run(*asked, "--json", cwd=job).stdout)
    assert told["homogeneous"] == 120  # all who agree on age and sex have one drug
    assert told["similar"] is None
    kinds = POLICY.replace("drug: sensitive", "drug: {role: sensitive, hierarchy: {tree: TREE}}")
    kinds = kinds.replace("TREE", "{soft: [a, b, c], hard: [d, e]}")
    (job / "kinds.yaml").write_text(kinds, encoding="utf-8")
    told = json.loads(run(*asked, "--policy", "kinds.yaml", "--json", cwd=job).stdout)
    assert told["by_category"] == [72, 48]
    shown = run(*asked, "--policy", "kinds.yaml", cwd=job)
    assert "in groups of one category" in shown.stdout


def test_policies_side_by_side_as_table_json_and_picture(job: Path) -> None:
    policies = [f"{name}.yaml" for name in MANNERS]
    found = run(
        "compare", *policies, "--queries", "200", "--picture", "side.svg", "-o", "kept", cwd=job
    )
    assert found.returncode == 0, found.stderr
    for name in MANNERS:
        assert name in found.stdout
        assert name in (job / "side.svg").read_text(encoding="utf-8")
    releases = sorted(each for each in (job / "kept").iterdir() if each.is_dir())
    assert [each.name for each in releases] == [
        f"{number:02}-{name}" for number, name in enumerate(MANNERS, start=1)
    ]
    assert run("verify", str(releases[0]), cwd=job).returncode == 0
    assert "kept/index.html" in found.stdout
    told = json.loads(run("compare", *policies, "--queries", "50", "--json", cwd=job).stdout)
    by_name = {each["policy"]: each for each in told["policies"]}
    assert {name: each["tables"] for name, each in by_name.items()} == {
        "generalized": 1, "anatomy": 3, "lossy": 2, "dealt": 3,
    }  # fmt: skip
    assert by_name["generalized"]["ncp"] > by_name["anatomy"]["ncp"] == 0
    assert all(each["privacy"][0]["l"] >= 3 for each in told["policies"])
    assert by_name["anatomy"]["query_error"]["all"]["queries"] == 50


def test_a_policy_out_of_reach_does_not_stop_the_others(job: Path) -> None:
    (job / "far.yaml").write_text(POLICY.replace("k: 6, l: 3", "k: 6, l: 9"), encoding="utf-8")
    found = run("compare", "far.yaml", "anatomy.yaml", "--queries", "0", "--json", cwd=job)
    assert found.returncode == 1
    far, near = json.loads(found.stdout)["policies"]
    assert "cannot be reached" in far["problem"]
    assert near["problem"] is None
    assert near["query_error"] is None


def test_one_policy_over_a_range_is_as_many_policies(job: Path) -> None:
    over = ["--over", "k=6,12", "--over", "publish=anatomy,lossy-join"]
    told = json.loads(
        run("compare", "anatomy.yaml", *over, "--queries", "0", "--json", cwd=job).stdout
    )
    assert [each["policy"] for each in told["policies"]] == [
        "anatomy, k=6, publish=anatomy",
        "anatomy, k=6, publish=lossy-join",
        "anatomy, k=12, publish=anatomy",
        "anatomy, k=12, publish=lossy-join",
    ]
    assert [each["privacy"][0]["k"] >= 12 for each in told["policies"]][2:] == [True, True]
    assert [each["publish"] for each in told["policies"]][:2] == ["anatomy", "lossy-join"]
    shown = run("compare", "generalized.yaml", "--over", "k=6,60", "--queries", "0", cwd=job)
    assert "Risk that is left" in shown.stdout
    assert "generalized, k=60" in shown.stdout


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["anatomy.yaml", "--picture", "side.pdf"], ".svg, .png or .html"),
        (["anatomy.yaml", "--picture", "nowhere/side.svg"], "does not exist"),
        (["anatomy.yaml", "absent.yaml"], "no policy file"),
        (["anatomy.yaml", "elsewhere.yaml"], "2 different sources"),
        (["anatomy.yaml", "-o", "nowhere/kept"], "does not exist"),
        (["anatomy.yaml", "-o", "apart"], "is not a comparison, so it is not replaced"),
        (["anatomy.yaml", "--over", "k"], "as in k=2,5"),
        (["anatomy.yaml", "--over", "k="], "as in k=2,5"),
        (["anatomy.yaml", "--over", "k=2", "--over", "k=3"], "k stands twice"),
        (["anatomy.yaml", "--over", "t=0.2"], "anatomy has no parameter 't'"),
        (["anatomy.yaml", "--over", "k=6,1"], "k must be a whole number of at least 2, got 1"),
    ],
)
def test_comparisons_that_cannot_be_made_are_refused(
    options: list[str], problem: str, job: Path
) -> None:
    (job / "elsewhere.yaml").write_text(POLICY.replace("data.csv", "other.csv"), encoding="utf-8")
    found = run("compare", *options, cwd=job)
    assert found.returncode == 2
    assert problem in found.stderr


def test_the_error_of_counts_is_a_metric_of_any_release(job: Path) -> None:
    asked = ["evaluate", "apart", "--original", "data.csv", "--queries", "100"]
    told = json.loads(run(*asked, "--json", cwd=job).stdout)
    assert (told["cells_unchanged"], told["cells_hidden"]) == (1, 0)
    assert told["query_error"]["all"]["queries"] == 100
    assert "random counts" in run(*asked, cwd=job).stdout
    moved = run("evaluate", "apart", "--original", "data.csv", "--kl", cwd=job)
    assert "KL-divergence from the original" in moved.stdout
    alone = run("evaluate", "apart", "--queries", "100", cwd=job)
    assert alone.returncode == 2
    assert "original" in alone.stderr
