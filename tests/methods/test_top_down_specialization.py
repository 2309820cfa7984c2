"""Top-down specialization against its plain version, step by step, and private at every step."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest
import top_down_reference as reference
from top_down_reference import Attribute, Cell

from incrowd._runtime.progress import silent
from incrowd.errors import ParameterError, PolicyError, PrivacyError
from incrowd.methods.base import Outcome
from incrowd.methods.top_down_specialization import TopDownSpecializationOptions
from incrowd.methods.top_down_specialization.search import (
    Step,
    TopDownSpecialization,
    top_down_specialization,
)
from incrowd.pipeline import Job

STAGES = ["I", "II", "III", "IV"]
GRADES = ["low", "mid", "high", "top"]
JOBS = {
    "Manual": {"Wood": ["carpenter", "joiner"], "Land": ["farmer"]},
    "Office": {"Law": ["judge", "lawyer", "notary"], "Money": ["banker", "clerk"]},
    "none": ["child", "retired"],
}
GRADE_TREE = {"any": {"lower": ["low", "mid"], "upper": ["high", "top"]}}
FIRST_DAY = date(2020, 2, 26)
WAYS = [
    (goal, search)
    for goal in ("general", "classification")
    for search in ("greedy", "frugal", "gain")
]

Records = list[dict[str, Cell]]
Models = list[dict[str, dict[str, Any]]]
QUASI: dict[str, dict[str, Any]] = {
    "age": {"type": "numeric"},
    "dose": {
        "type": "numeric",
        "hierarchy": {"intervals": {"start": 0, "stop": 12, "widths": [3, 6]}},
    },
    "birth": {"type": "date"},
    "stage": {"order": STAGES},
    "grade": {"order": GRADES, "hierarchy": {"tree": GRADE_TREE}},
    "city": {"type": "category"},
    "town": {"type": "category"},
    "job": {"type": "category", "hierarchy": {"tree": JOBS}},
}
ILL = {"sensitive": "ill"}
MODELS: dict[str, Models] = {
    "lkc 1": [{"lkc": {"L": 1, "K": 3}}],
    "lkc 2": [{"lkc": {"L": 2, "K": 2}}],
    "lkc 3": [{"lkc": {"L": 3, "K": 4}}],
    "lkc confidence": [{"lkc": {"L": 2, "K": 2, "C": 0.75, **ILL}}],
    "lkc listed": [{"lkc": {"L": 2, "K": 2, "C": 0.5, "values": ["hiv"], **ILL}}],
    "lkc only confidence": [{"lkc": {"L": 3, "K": 1, "C": 0.8, **ILL}}],
    "lkc all": [{"lkc": {"L": 9, "K": 2, "C": 1.0, **ILL}}],
    "k-anonymity": [{"k-anonymity": {"k": 2}}],
    "distinct": [{"l-diversity": {"l": 2, **ILL}}],
    "entropy": [{"l-diversity": {"l": 1.6, "kind": "entropy", **ILL}}],
    "t-closeness": [{"t-closeness": {"t": 0.4, **ILL}}],
    "alpha-k": [{"alpha-k": {"alpha": 0.7, "k": 2, **ILL}}],
    "confidence": [{"confidence-bounding": {"C": 0.6, "values": ["hiv"], **ILL}}],
    "two of groups": [{"k-anonymity": {"k": 2}}, {"t-closeness": {"t": 0.5, **ILL}}],
    "two of crowds": [
        {"lkc": {"L": 2, "K": 2}},
        {"lkc": {"L": 1, "K": 4, "C": 0.7, "sensitive": "risk"}},
    ],
    "crowds and groups": [
        {"lkc": {"L": 2, "K": 3, "C": 0.9, **ILL}},
        {"l-diversity": {"l": 2, "sensitive": "risk"}},
    ],
    "confidence in the class": [
        {"lkc": {"L": 2, "K": 2, "C": 0.9, "sensitive": "income"}},
        {"l-diversity": {"l": 1.2, "kind": "entropy", **ILL}},
    ],
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Records, what is asked, and the same for the plain version."""

    records: Records
    attributes: list[Attribute]
    models: Models
    goal: str
    search: str

    @property
    def names(self) -> list[str]:
        return [attribute.name for attribute in self.attributes]

    def plain(self) -> reference.Search:
        target = "income" if self.goal == "classification" else None
        return reference.Search(
            self.attributes, self.records, self.models, self.goal, self.search, target
        )

    def begin(self, order: Sequence[int] | None = None) -> TopDownSpecialization:
        job = self.job(order)
        assert isinstance(job.policy.method, TopDownSpecializationOptions)
        assert job.policy.method.search != "best"
        return TopDownSpecialization(job.task, job.policy.method.search)

    def job(self, order: Sequence[int] | None = None) -> Job:
        records = self.records if order is None else [self.records[i] for i in order]
        columns = (*self.names, "ill", "risk", "income")
        frame = pl.DataFrame(records, schema=dict.fromkeys(columns, pl.String))
        return Job.begin(
            frame,
            {
                "attributes": {
                    **{name: {"role": "quasi", **QUASI[name]} for name in self.names},
                    "ill": "sensitive",
                    "risk": "sensitive",
                    "income": "target",
                },
                "privacy": self.models,
                "goal": self.goal,
                "method": {"name": "top-down-specialization", "search": self.search},
            },
            silent,
            accept_unprotected=True,
        )

    def begun(self) -> TopDownSpecialization | None:
        """A run, or None where the table as a whole is not private, which must be refused."""
        if len(self.records) >= smallest(self.models) and self.plain().is_private():
            return self.begin()
        with pytest.raises((PrivacyError, PolicyError, ParameterError)):
            self.begin()
        return None


def smallest(models: Models) -> int:
    return max(
        int(given.get("K") or given.get("k") or 1) for model in models for given in model.values()
    )


def attribute_of(name: str, records: Records) -> Attribute:
    asked = QUASI[name]
    if name == "dose":

        def within(dose: int, width: int) -> str:
            return f"[{dose // width * width}-{dose // width * width + width})"

        ranges = {str(dose): (within(dose, 3), within(dose, 6), "*") for dose in range(12)}
        return reference.attribute_of(name, "numeric", records, above=ranges)
    if name in ("grade", "job"):
        above = reference.labels_of_tree(asked["hierarchy"]["tree"])
        kind = "ordered" if name == "grade" else "category"
        return reference.attribute_of(name, kind, records, order=list(above), above=above)
    kind = "ordered" if "order" in asked else asked["type"]
    return reference.attribute_of(name, kind, records, order=asked.get("order", ()))


def some_records(draw: random.Random, names: Sequence[str], number: int) -> Records:
    """Few or many kinds of people; the class follows the first attribute more or less."""
    lacking = draw.choice((0, 0, 0.12))
    width = draw.choice((3, 6, 9))
    jobs = draw.sample(list(reference.labels_of_tree(JOBS)), width)

    def cell(name: str, place: int) -> Cell:
        if draw.random() < lacking:
            return None
        cells: dict[str, Any] = {
            "age": str(place - 1),
            "dose": str(place + 2),
            "birth": str(FIRST_DAY + timedelta(days=place)),
            "stage": STAGES[place % 4],
            "grade": GRADES[place % 4],
            "city": "ABCDE"[place % 5],
            "town": "WXYZ"[place % 4],
            "job": jobs[place],
        }
        return str(cells[name])

    people = []
    for _ in range(draw.choice((4, 7, 12, number))):
        places = [draw.randrange(width) for _ in names]
        shown = {name: cell(name, place) for name, place in zip(names, places, strict=True)}
        people.append((shown, places[0] > width // 2))
    records: Records = []
    for _ in range(number):
        shown, likely = draw.choice(people)
        record = dict(shown)
        record["ill"] = draw.choice(("flu", "hiv", "ulcer", "flu", "asthma", None))
        record["risk"] = draw.choice(("a", "b", "c"))
        record["income"] = draw.choice(("high", "low")) if draw.random() < 0.5 else str(likely)
        records.append(record)
    records[0]["ill"] = "hiv"  # a listed value must occur
    return records


def some_case(
    seed: int, goal: str, search: str, sizes: Sequence[int], attributes: tuple[int, int]
) -> Case:
    draw = random.Random(seed)
    names = draw.sample(list(QUASI), draw.randint(*attributes))
    records = some_records(draw, names, draw.choice(sizes))
    models = MODELS[list(MODELS)[seed % len(MODELS)]]
    return Case(records, [attribute_of(n, records) for n in names], models, goal, search)


def labels_of(outcome: Outcome, names: Sequence[str]) -> list[tuple[Cell, ...]]:
    """What every record shows."""
    cells = [outcome.labels[name] for name in names]
    return [
        tuple(each.texts[each.text_of_group[group]] for each in cells)
        for group in np.asarray(outcome.group_of_record).tolist()
    ]


def is_sound(outcome: Outcome, names: Sequence[str]) -> list[tuple[Cell, ...]]:
    """Every record is in one group, groups are the distinct combinations of labels, in order."""
    shown = labels_of(outcome, names)
    assert outcome.suppressed == 0
    sizes = Counter(np.asarray(outcome.group_of_record).tolist())
    assert [sizes[group] for group in range(len(sizes))] == outcome.group_sizes.tolist()
    assert len(sizes) == len(set(shown))
    texts = np.array([outcome.labels[name].text_of_group for name in names]).T.tolist()
    assert texts == sorted(texts)
    return shown


def told(step: Step | reference.Step) -> tuple[Any, ...]:
    return step.attribute, step.value, step.children, step.groups, step.touched


@pytest.mark.parametrize(("goal", "search"), WAYS)
def test_every_step_is_that_of_the_plain_version(goal: str, search: str) -> None:
    steps = 0
    for seed in range(48):
        case = some_case(seed, goal, search, (1, 12, 40, 80, 120), (1, 5))
        fast, plain = case.begun(), case.plain()
        if fast is None:
            continue
        assert is_sound(fast.outcome(), case.names) == plain.shown()
        made = iter(fast)
        for number, wanted in enumerate(plain, start=1):
            step = next(made, None)
            assert step is not None, f"seed {seed}: {wanted} is missing"
            assert told(step) == told(wanted), f"seed {seed}"
            assert step.number == number
            assert step.score == pytest.approx(wanted.score, rel=1e-9, abs=1e-11)
            assert is_sound(fast.outcome(), case.names) == plain.shown()
            steps += 1
        assert next(made, None) is None, f"seed {seed}"
    assert steps > 100


@pytest.mark.parametrize(("goal", "search"), WAYS)
def test_larger_tables_are_private_at_every_step_and_leave_nothing_to_specialize(
    goal: str, search: str
) -> None:
    """The steps are replayed on the plain table, which says whether each was allowed."""
    steps = 0
    for seed in range(len(MODELS)):
        case = some_case(seed, goal, search, (80, 120), (4, 6))
        fast, plain = case.begun(), case.plain()
        assert fast is not None
        shown = [is_sound(fast.outcome(), case.names)]
        for step in fast:
            place = case.names.index(step.attribute)
            attribute = case.attributes[place]
            (run,) = [run for run in plain.cuts[place] if attribute.label(run) == step.value]
            (children,) = [
                children
                for children in attribute.options(run)
                if tuple(map(attribute.label, children)) == step.children
            ]
            assert step.touched == plain.touched(place, run)
            plain.cuts = plain.after(place, run, children)
            shown.append(is_sound(fast.outcome(), case.names))
            assert step.groups == len(set(shown[-1]))
            assert shown[-1] == plain.shown()
            assert reference.is_private(shown[-1], case.records, case.models)
            steps += 1
        assert plain.valid_options() == []
        for earlier in shown:
            for place in range(len(case.names)):
                pairs = {(e[place], f[place]) for e, f in zip(earlier, shown[-1], strict=True)}
                assert len({final for _, final in pairs}) == len(pairs), "one label above each"
    assert steps > 60


@pytest.mark.parametrize(("goal", "search"), WAYS)
def test_the_same_records_give_the_same_table_in_any_order(goal: str, search: str) -> None:
    for seed in range(len(MODELS)):
        case = some_case(seed, goal, search, (40,), (3, 5))
        first, second = case.begun(), case.begun()
        assert first is not None
        assert second is not None
        steps = list(first)
        assert list(second) == steps
        outcome = first.outcome()
        same_outcome(outcome, second.outcome())
        order = random.Random(seed).sample(range(40), 40)
        shuffled = case.begin(order)
        assert list(shuffled) == steps
        moved = shuffled.outcome()
        groups = np.asarray(outcome.group_of_record)
        assert np.asarray(moved.group_of_record).tolist() == groups[order].tolist()
        same_outcome(replace(moved, group_of_record=outcome.group_of_record), outcome)


def same_outcome(one: Outcome, other: Outcome) -> None:
    groups = [np.asarray(each.group_of_record).tolist() for each in (one, other)]
    assert groups[0] == groups[1]
    assert one.group_sizes.tolist() == other.group_sizes.tolist()
    assert list(one.labels) == list(other.labels)
    for name, cells in one.labels.items():
        assert cells.texts == other.labels[name].texts
        assert cells.text_of_group.tolist() == other.labels[name].text_of_group.tolist()
        assert cells.loss_of_group.tolist() == other.labels[name].loss_of_group.tolist()


def test_the_outcome_of_a_whole_run_is_that_of_its_last_step() -> None:
    case = some_case(1, "general", "frugal", (40,), (3, 3))
    search = case.begin()
    assert list(search)
    assert list(search) == []
    job = case.job()
    frugal = TopDownSpecializationOptions(search="frugal")
    same_outcome(top_down_specialization(job.task, frugal), search.outcome())


@pytest.mark.parametrize(("ills", "risks"), [(45, 3), (12, 5), (31, 2), (3, 40), (16, 4)])
def test_of_many_sensitive_values_the_rarest_are_one_stratum(ills: int, risks: int) -> None:
    """At most 32 strata: 45 values leave no room for a second attribute, 12 leave room for two."""
    models = [
        {"lkc": {"L": 2, "K": 3, "sensitive": "ill"}},
        {"l-diversity": {"l": 2, "sensitive": "risk"}},
    ]
    for seed in range(4):
        draw = random.Random(seed)
        names = ["age", "city", "job"]
        records = some_records(draw, names, 90)
        for number, record in enumerate(records):
            rare = number if number < ills else int(draw.random() ** 3 * ills)
            record["ill"] = None if rare == 2 else f"i{rare:02}"
            record["risk"] = f"r{number if number < risks else draw.randrange(risks):02}"
        attributes = [attribute_of(name, records) for name in names]
        case = Case(records, attributes, models, "classification", "frugal")
        made, expected = list(case.begin()), list(case.plain())
        assert list(map(told, made)) == list(map(told, expected))
        assert [s.score for s in made] == pytest.approx([s.score for s in expected], abs=1e-9)


def by_hand(columns: dict[str, Sequence[Cell]], models: Models, goal: str, search: str) -> Case:
    rows = zip(*columns.values(), strict=True)
    records = [
        {"ill": "flu", "risk": "a", "income": "low", **dict(zip(columns, row, strict=True))}
        for row in rows
    ]
    names = [name for name in columns if name in QUASI]
    return Case(records, [attribute_of(n, records) for n in names], models, goal, search)


@pytest.mark.parametrize("search", ["greedy", "frugal"])
def test_an_interval_is_cut_at_its_best_valid_cut(search: str) -> None:
    """Cutting off the one who differs tells most, but leaves a single record."""
    case = by_hand(
        {"age": ["1", "2", "3", "4", "5"], "income": ["high", "low", "low", "low", "low"]},
        [{"k-anonymity": {"k": 2}}],
        "classification",
        search,
    )
    (step,) = list(case.begin())
    assert (step.value, step.children) == ("*", ("[1-3)", "[3-6)"))
    gain = math.log2(5) - 0.8 * math.log2(4) - 0.4  # 0.7219 - 2/5 x 1 bit
    if search == "greedy":
        assert step.score == pytest.approx(gain, abs=1e-12)


def test_squares_of_all_records_are_the_first_greedy_score_and_ties_go_by_attribute() -> None:
    cells = ["1", "2", "3", "4"]
    case = by_hand({"dose": cells, "age": cells}, [{"lkc": {"L": 1, "K": 2}}], "general", "greedy")
    assert [(s.attribute, s.value, s.children, s.score) for s in case.begin()] == [
        ("dose", "[0-6)", ("[0-3)", "[3-6)"), 16.0),
        ("age", "*", ("[1-3)", "[3-5)"), 8.0),  # two groups of two show its value
    ]
    case = by_hand({"age": cells, "dose": cells}, [{"lkc": {"L": 1, "K": 2}}], "general", "greedy")
    assert [s.attribute for s in case.begin()] == ["age", "dose"]


@pytest.mark.parametrize("search", ["greedy", "frugal"])
def test_equal_scores_tie_though_their_sums_are_taken_in_another_order(search: str) -> None:
    """A town is a city by another name; floats may differ in the last digit, scores may not."""
    counts = {"A": (1, 2), "B": (3, 4), "C": (5, 6), "D": (2, 7), "E": (11, 1)}
    cities = [c for c, (high, low) in counts.items() for _ in range(high + low)]
    incomes = [i for high, low in counts.values() for i in ["high"] * high + ["low"] * low]
    models: Models = [{"lkc": {"L": 2, "K": 2}}]
    for names in itertools.permutations("VWXYZ"):
        other = dict(zip(counts, names, strict=True))
        towns = [other[city] for city in cities]
        both: dict[str, Sequence[Cell]] = {"city": cities, "town": towns}
        for first in (both, dict(reversed(both.items()))):
            case = by_hand({**first, "income": incomes}, models, "classification", search)
            made = list(case.begin())
            assert [step.attribute for step in made] == list(first)
            assert made[0].score == made[1].score


def test_who_knows_one_value_may_see_all_of_them_where_two_records_are_enough() -> None:
    case = by_hand(
        {
            "age": ["3", None, "5"] * 2,
            "job": ["judge", "farmer", None] * 2,
            "birth": ["2020-02-29"] * 6,
        },
        [{"lkc": {"L": 1, "K": 2}}],
        "general",
        "frugal",
    )
    search = case.begin()
    list(search)
    assert (
        labels_of(search.outcome(), case.names)
        == [
            ("3", "judge", "2020-02-29"),
            (None, "farmer", "2020-02-29"),
            ("5", None, "2020-02-29"),
        ]
        * 2
    )


def test_records_that_are_all_alike_or_lack_everything_are_left_as_they_are() -> None:
    case = by_hand(
        {"age": [None] * 3, "job": [None] * 3, "city": ["A"] * 3, "stage": ["I"] * 3},
        [{"k-anonymity": {"k": 2}}],
        "general",
        "greedy",
    )
    search = case.begin()
    assert list(search) == []
    assert labels_of(search.outcome(), case.names) == [(None, None, "A", "I")] * 3
