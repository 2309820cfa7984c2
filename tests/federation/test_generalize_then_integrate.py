"""Generalize, then integrate: every hospital alone, then one table, as private as each of them."""

from __future__ import annotations

import doctest
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import generalize_then_integrate as baseline
import numpy as np
import polars as pl
import pytest
from generalize_then_integrate import IntegratedTable, generalize_then_integrate, with_common_labels
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import incrowd
from incrowd.errors import InputError, ParameterError, PolicyError, PrivacyError
from incrowd.privacy import LKC
from incrowd.utility import classification, discernibility

SURGERIES = pl.DataFrame(
    {
        "Job": ["Janitor", "Lawyer", "Mover", "Lawyer", "Mover", "Janitor", "Doctor", "Doctor",
                "Doctor", "Carpenter", "Technician"],
        "Sex": list("MFMMMMFMMFF"),
        "Age": [34, 58, 58, 24, 34, 44, 44, 58, 24, 63, 63],
        "Transfuse": list("YNNNYYNNNYY"),
        "Surgery": ["Transgender", "Plastic", "Urology", "Vascular", "Transgender", "Plastic",
                    "Vascular", "Plastic", "Urology", "Vascular", "Plastic"],
    }
)  # fmt: skip
PARTIES = [SURGERIES[:3], SURGERIES[3:7], SURGERIES[7:]]
QUASI = ["Job", "Sex", "Age"]
TREE = {
    "Blue-collar": {
        "Nontechnical": ["Janitor", "Mover"],
        "Technical": ["Carpenter", "Technician"],
    },
    "White-collar": {"Professional": ["Lawyer", "Doctor"]},
}
LISTED: dict[str, Any] = {
    "L": 2,
    "K": 2,
    "C": 0.5,
    "sensitive": "Surgery",
    "values": ["Transgender"],
}
POLICY: dict[str, Any] = {
    "attributes": {
        "Job": {"role": "quasi", "hierarchy": {"tree": TREE}},
        "Sex": "quasi",
        "Age": {
            "role": "quasi",
            "type": "numeric",
            "hierarchy": {"intervals": {"start": 1, "stop": 99, "widths": [30, 60]}},
        },
        "Transfuse": "target",
        "Surgery": "sensitive",
    },
    "privacy": [{"lkc": LISTED}],
    "method": {"name": "top-down-specialization", "search": "greedy"},
    "goal": "classification",
}
JOB = {"job": {"role": "quasi", "hierarchy": {"tree": TREE}}}
BY_JOB: dict[str, Any] = {
    "attributes": JOB,
    "privacy": [{"k-anonymity": {"k": 2}}],
    "method": "top-down-specialization",
}


def jobs(*names: str) -> pl.DataFrame:
    return pl.DataFrame({"job": list(names)})


def shown(table: IntegratedTable, name: str = "job") -> Counter[str | None]:
    return Counter(table.data[name].to_list())


def test_the_hospitals_of_the_paper_show_less_apart_than_together() -> None:
    """As Table III: private, and not as detailed as the table of all eleven records."""
    apart = generalize_then_integrate(PARTIES, POLICY, accept_unprotected=True)
    assert LKC(**LISTED).check(apart.data, quasi=QUASI).holds
    assert [part.height for part in apart.parts] == [3, 4, 4]
    assert apart.parts[0]["Sex"].unique().to_list() == ["*"], "one woman among three"
    together = incrowd.anonymize(SURGERIES, POLICY, accept_unprotected=True).data
    assert "*" not in together["Sex"].to_list()


def test_each_part_is_the_release_of_its_hospital_alone() -> None:
    tables = [jobs("Mover", "Mover", "Janitor", "Janitor"), jobs("Mover", "Janitor", "Doctor")]
    apart = generalize_then_integrate(tables, BY_JOB, accept_unprotected=True)
    for part, table in zip(apart.parts, tables, strict=True):
        assert part.equals(incrowd.anonymize(table, BY_JOB, accept_unprotected=True).data)
    assert apart.data.equals(pl.concat(apart.parts).sort("job"))
    assert apart.manifest["records"]["published"] == 7


def test_a_hospital_without_the_listed_value_is_not_refused() -> None:
    """Party C has no such surgery, so nothing is to be bound there; K still is."""
    assert "Transgender" not in PARTIES[2]["Surgery"].to_list()
    part = generalize_then_integrate(PARTIES, POLICY, accept_unprotected=True).parts[2]
    assert LKC(L=2, K=2).check(part, quasi=QUASI).holds


def test_a_value_that_no_hospital_has_is_refused() -> None:
    listed = {**LISTED, "values": ["Transgender", "Cardiac"]}
    with pytest.raises(ParameterError, match=r"1 of the values .* occur at no hospital: 'Cardiac'"):
        generalize_then_integrate(
            PARTIES, {**POLICY, "privacy": [{"lkc": listed}]}, accept_unprotected=True
        )


@pytest.mark.parametrize(
    "model",
    [
        {"lkc": LISTED},
        {"alpha-k": {"alpha": 0.67, "k": 2, "sensitive": "Surgery", "values": ["Transgender"]}},
        {
            "confidence-bounding": {
                "C": 0.67, "sensitive": "Surgery", "values": ["Transgender", "Vascular"],
            }
        },
    ],
)  # fmt: skip
def test_every_model_with_listed_values_is_asked_of_each_hospital(model: dict[str, Any]) -> None:
    apart = generalize_then_integrate(
        PARTIES, {**POLICY, "privacy": [model]}, accept_unprotected=True
    )
    (promise,) = apart.manifest["promises"]
    assert promise["parameters"]["values"] == next(iter(model.values()))["values"]
    assert apart.data.height == 11


def test_a_model_that_compares_with_a_hospitals_own_distribution_is_not_promised() -> None:
    models = [{"k-anonymity": {"k": 2}}, {"t-closeness": {"t": 0.9, "sensitive": "Surgery"}}]
    policy = {**POLICY, "privacy": models, "goal": "general"}
    apart = generalize_then_integrate([SURGERIES, SURGERIES], policy, accept_unprotected=True)
    assert [promise["model"] for promise in apart.manifest["promises"]] == ["k-anonymity"]


@st.composite
def hospitals(draw: st.DrawFn) -> list[pl.DataFrame]:
    rows = st.tuples(
        st.sampled_from(["Janitor", "Mover", "Carpenter", "Lawyer", "Doctor"]),
        st.sampled_from("MF"),
        st.integers(1, 98),
        st.sampled_from("YN"),
        st.sampled_from(["Transgender", "Plastic", "Urology", "Vascular"]),
    )
    tables = draw(st.lists(st.lists(rows, min_size=4, max_size=25), min_size=2, max_size=3))
    return [pl.DataFrame(table, schema=SURGERIES.columns, orient="row") for table in tables]


@given(hospitals(), st.sampled_from([1, 2, 3]), st.sampled_from(["greedy", "frugal"]))
@settings(max_examples=20)
def test_the_joint_table_is_private_and_so_are_its_common_labels(
    frames: list[pl.DataFrame], L: int, search: str
) -> None:
    bound: dict[str, Any] = {"L": L, "K": 3, "C": 0.5, "sensitive": "Surgery"}
    policy = {
        **POLICY,
        "privacy": [{"lkc": bound}],
        "method": {"name": "top-down-specialization", "search": search},
    }
    try:
        apart = generalize_then_integrate(frames, policy, accept_unprotected=True)
    except PrivacyError:
        reject()  # a hospital alone cannot reach it
    common = with_common_labels(apart, frames, policy)
    for table in (apart, common):
        found = LKC(**bound).check(table.data, quasi=QUASI)
        assert found.holds, found.numbers
        for part in table.parts:
            assert LKC(**bound).check(part, quasi=QUASI).holds, "also for those who know whose"
        others = [c for c in SURGERIES.columns if c not in QUASI]
        counted = Counter(table.data.select(others).iter_rows())
        assert counted == Counter(pl.concat(frames).select(others).iter_rows())
    assert discernibility(common).dr >= discernibility(apart).dr


def common_label_by_brute_force(table: IntegratedTable, value: str) -> str:
    path = {"Janitor": "Nontechnical", "Mover": "Nontechnical", "Carpenter": "Technical"}
    above = path.get(value, "Professional")
    top = "White-collar" if above == "Professional" else "Blue-collar"
    return [label for label in (value, above, top, "*") if label in shown(table)][-1]


@given(
    st.lists(
        st.lists(st.sampled_from(["Janitor", "Mover", "Carpenter", "Doctor"]), min_size=2),
        min_size=1,
        max_size=3,
    )
)
@settings(max_examples=30)
def test_common_labels_are_the_highest_that_any_hospital_shows(names: list[list[str]]) -> None:
    frames = [jobs(*each) for each in names]
    apart = generalize_then_integrate(frames, BY_JOB, accept_unprotected=True)
    common = with_common_labels(apart, frames, BY_JOB)
    wanted = Counter(common_label_by_brute_force(apart, job) for each in names for job in each)
    assert shown(common) == wanted


def test_cuts_that_differ_tell_whose_a_record_is_and_common_labels_do_not() -> None:
    north = jobs("Mover", "Mover", "Janitor", "Janitor", "Doctor", "Doctor")
    south = jobs("Mover", "Janitor", "Doctor", "Doctor")
    apart = generalize_then_integrate([north, south], BY_JOB, accept_unprotected=True)
    assert shown(apart) == {"Mover": 2, "Janitor": 2, "Doctor": 4, "Nontechnical": 2}
    assert apart.traceable == 6 / 10
    common = with_common_labels(apart, [north, south], BY_JOB)
    assert shown(common) == {"Nontechnical": 6, "Doctor": 4}
    assert common.traceable == 0
    assert discernibility(apart).dr == (4 + 4 + 16 + 4) / 100
    assert discernibility(common).dr == (36 + 16) / 100


def test_missing_cells_go_with_the_root() -> None:
    whole = pl.DataFrame({"job": ["Mover", "Mover", None, None]})
    rare = pl.DataFrame({"job": ["Mover", "Mover", "Doctor", None]})
    apart = generalize_then_integrate([whole, rare], BY_JOB, accept_unprotected=True)
    assert shown(apart) == {"Mover": 2, None: 2, "*": 4}
    assert shown(with_common_labels(apart, [whole, rare], BY_JOB)) == {"*": 8}
    alone = generalize_then_integrate([whole, whole], BY_JOB, accept_unprotected=True)
    assert shown(with_common_labels(alone, [whole, whole], BY_JOB)) == {"Mover": 4, None: 4}


def patients(rows: int, seed: int) -> pl.DataFrame:
    """The class follows the age, but for one patient in ten."""
    draws = np.random.default_rng(seed)
    age = draws.integers(1, 99, rows)
    yes = (age >= 60) ^ (draws.random(rows) < 0.1)
    return pl.DataFrame(
        {
            "Job": draws.choice(["Janitor", "Mover", "Lawyer", "Doctor"], rows),
            "Sex": draws.choice(["F", "M"], rows),
            "Age": age,
            "Transfuse": np.where(yes, "Y", "N"),
            "Surgery": draws.choice(["Transgender", "Plastic", "Urology"], rows),
        }
    )


def test_a_tree_learns_from_ranges_of_different_widths() -> None:
    frames = [patients(300, 1), patients(60, 2)]
    apart = generalize_then_integrate(frames, POLICY, accept_unprotected=True)
    found = classification(apart, pl.concat(frames))
    assert found.records == 360
    assert found.be is not None
    assert found.ce.mean < 0.2 < found.ue.mean, "the class is in the ages, where they are cut"


def test_files_are_read_as_the_policy_says(tmp_path: Path) -> None:
    paths: Sequence[Path] = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path in paths:
        path.write_text("job|ward\nMover|1\nMover|2\n")
    policy = {**BY_JOB, "separator": "|", "other": "drop"}
    apart = generalize_then_integrate(paths, policy, accept_unprotected=True)
    assert shown(with_common_labels(apart, paths, policy)) == {"Mover": 4}


def test_what_does_not_fit_together_is_refused_with_the_hospital() -> None:
    alone, together = jobs("Mover"), jobs("Mover", "Mover")
    with pytest.raises(PolicyError, match=r"^Hospital 2: .* only 1 records"):
        generalize_then_integrate([together, alone], BY_JOB, accept_unprotected=True)
    one_kind = PARTIES[1].with_columns(Surgery=pl.lit("Transgender"))
    with pytest.raises(PrivacyError, match=r"^Hospital 3: "):
        generalize_then_integrate([*PARTIES[:2], one_kind], POLICY, accept_unprotected=True)
    with pytest.raises(PolicyError, match=r"^Hospital 2: .*'job'"):
        generalize_then_integrate(
            [together, together.rename({"job": "work"})], BY_JOB, accept_unprotected=True
        )
    with pytest.raises(PolicyError, match=r"^Hospital 3: No column 'Surgery'"):
        generalize_then_integrate(
            [*PARTIES[:2], PARTIES[2].drop("Surgery")], POLICY, accept_unprotected=True
        )
    kept = {**BY_JOB, "other": "keep"}
    with pytest.raises(InputError, match=r"Hospital 2 publishes other columns .*: 'ward'"):
        generalize_then_integrate(
            [together, together.with_columns(ward=pl.lit("A"))], kept, accept_unprotected=True
        )
    seen = {**BY_JOB, "attributes": {**JOB, "age": "quasi"}}
    numbers, words = together.with_columns(age=pl.lit(3)), together.with_columns(age=pl.lit("old"))
    with pytest.raises(InputError, match="'age' looks numeric to one hospital and category"):
        generalize_then_integrate([numbers, words], seen, accept_unprotected=True)


def test_what_cannot_be_integrated_is_refused() -> None:
    frames = [jobs("Mover", "Mover")]
    nothing: Any
    for nothing in ([], "a.csv"):
        with pytest.raises(ParameterError, match="at least one hospital"):
            generalize_then_integrate(nothing, BY_JOB, accept_unprotected=True)
    separate = {**POLICY, "method": "anatomize", "publish": "anatomy", "goal": "general",
                "privacy": [{"l-diversity": {"l": 2, "sensitive": "Surgery"}}]}  # fmt: skip
    with pytest.raises(PolicyError, match="Say `publish: generalized`"):
        generalize_then_integrate(PARTIES, separate, accept_unprotected=True)
    grown = {**BY_JOB, "attributes": {"age": "quasi"}}
    ages = pl.DataFrame({"age": [1, 2, 3, 4]})
    apart = generalize_then_integrate([ages, ages], grown, accept_unprotected=True)
    with pytest.raises(InputError, match="'age' are not those of a hierarchy"):
        with_common_labels(apart, [ages, ages], grown)
    other = generalize_then_integrate(frames, BY_JOB, accept_unprotected=True)
    with pytest.raises(InputError, match=r"1 label\(s\) of 'job' are not in its hierarchy"):
        with_common_labels(other, [jobs("Doctor", "Doctor")], BY_JOB)


def test_the_examples_of_the_baseline_run() -> None:
    failed, tried = doctest.testmod(baseline)
    assert tried
    assert not failed
