"""The page of a comparison: policies as a risk-utility picture, each point a release to open."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from markupsafe import Markup

from incrowd._runtime.console import percent
from incrowd._version import __version__
from incrowd.comparison import Candidate
from incrowd.comparison.counted import counted_by
from incrowd.comparison.dominance import ReleaseRisks, Risks, dominated
from incrowd.comparison.folder import folder_name
from incrowd.privacy import MODELS
from incrowd.report.page import NAME, template
from incrowd.report.risk_utility import risk_utility
from incrowd.report.scatter import Point, mark

_LARGE, _HALF, _NARROW = (950, 430), (455, 330), (350, 330)
"""Widths and heights: of the first picture, of those below it, and of all on a small screen."""
_SAFE = "/=+"


@dataclass(frozen=True)
class Row:
    """A policy in the table, its figures as they are shown."""

    number: int
    name: str
    mark: Markup
    what: str
    promised: str
    measured: str
    beaten_by: str | None
    average: str
    highest: str
    guess: str
    attribute: str | None
    unchanged: str
    hidden: str
    kept: str
    error: str
    groups: str
    suppressed: str
    seconds: str
    stem: str
    """What its folder and its policy file are called."""
    links: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Failed:
    """A policy without a release, and why."""

    number: int
    name: str
    promised: str
    problem: str
    policy: str


@dataclass(frozen=True)
class Picture:
    """A picture, in two widths, with what stands below it."""

    title: str
    remark: str
    wide: Markup
    narrow: Markup


def comparison_page(candidates: Sequence[Candidate], source: str, records: int) -> str:
    """The comparison as one HTML file that needs nothing else.

    Parameters
    ----------
    candidates
        The policies, in their order; their folders lie beside the page.
    source, records
        What the source is called, and how many records it has.
    """
    beaten = dominated(candidates)
    compared = _ComparedPolicies(candidates, beaten)
    done = compared.done
    return template("compare.html").render(
        version=__version__,
        source=source,
        records=records,
        one=counted_by(candidates),
        rows_of_patients=any(each.one == "patient" for _, each in done),
        cards=compared.cards(),
        pictures=compared.pictures(),
        beaten=beaten,
        better=[
            (best, [name for name, by in beaten.items() if by == best])
            for best in dict.fromkeys(beaten.values())
        ],
        rows=[compared.row(number, each) for number, each in done],
        failed=[
            _failed(number, each)
            for number, each in enumerate(candidates, start=1)
            if each.problem is not None
        ],
        apart=any(each.publish != "generalized" for _, each in done),
        partly=_partly(text.split(" ")[0] for _, each in done for text in each.promises),
        errors=any(each.query_error is not None for _, each in done),
    )


def _partly(names: Iterable[str]) -> list[tuple[str, str, str]]:
    """Models about those who know a part: their name, what says how much, and what is measured."""
    return [
        (model.literature or model.name, model.partial, " and ".join(bounded))
        for model in dict.fromkeys(MODELS[name] for name in names)
        if model.partial
        if (bounded := [name for name in (model.size, model.share) if name])
    ]


def file_stem(candidate: Candidate, number: int) -> str:
    """What the folder of a policy, and its policy file, are called."""
    return candidate.folder or folder_name(number, candidate.name)


@dataclass(frozen=True)
class _ComparedPolicies:
    """The policies of a comparison, and by which of them each that is beaten is beaten."""

    candidates: Sequence[Candidate]
    beaten: Mapping[str, str]

    @property
    def done(self) -> list[tuple[int, Candidate]]:
        """The policies with a release, numbered as they were given."""
        every = enumerate(self.candidates, start=1)
        return [(number, each) for number, each in every if each.problem is None]

    def cards(self) -> list[tuple[str, str]]:
        """The few numbers that come first."""
        done = [each for _, each in self.done]
        words = "policies compared" if len(self.candidates) > 1 else "policy"
        if len(done) < len(self.candidates):
            words += f", {len(done)} of them within reach" if done else ", none within reach"
        found = [(f"{len(self.candidates)}", words)]
        figures = [(each, each.risk.after) for each in done if each.risk is not None]
        if not figures:
            return found
        safest, risk = min(figures, key=lambda each: each[1].average)
        found.append((percent(risk.average), f"least risk of being found: {safest.name}"))
        cells = [(each, each.cells[0]) for each in done if each.cells is not None]
        if cells:
            richest, unchanged = max(cells, key=lambda each: each[1])
            found.append((percent(unchanged), f"most cells as they were: {richest.name}"))
        if len(done) > 1:
            words = "to choose from: no other policy beats them"
            found.append((f"{len(done) - len(self.beaten)}", words))
        return found

    def pictures(self) -> list[Picture]:
        """The risk of being found on average, at worst, and of a guess, against what is kept."""
        found = []
        for which, (title, axis, remark) in _RISKS.items():
            points = [
                self._point(number, each, risk)
                for number, each in self.done
                if each.risk is not None and (risk := getattr(each.risk.after, which)) is not None
            ]
            if not points:
                continue
            lines = _held(which, [each.risk for _, each in self.done if each.risk is not None])
            wide, narrow = (
                risk_utility(points, title, axis, lines=lines, width=width, height=height)
                for width, height in (_LARGE if which == "average" else _HALF, _NARROW)
            )
            found.append(Picture(title, remark, wide, narrow))
        return found

    def row(self, number: int, candidate: Candidate) -> Row:
        """The line of a policy in the table."""
        stem = file_stem(candidate, number)
        point = self._point(number, candidate, 0.0)
        after = None if candidate.risk is None else candidate.risk.after
        error = candidate.query_error
        average = None if error is None else error.all.average
        return Row(
            number,
            candidate.name,
            mark(point.shape, beaten=point.beaten),
            f"{candidate.publish} by {candidate.method}",
            "; ".join(candidate.promises),
            "; ".join(numbers for _, numbers in candidate.measured if numbers),
            self.beaten.get(candidate.name),
            _shown(after, "average"),
            _shown(after, "highest"),
            _shown(after, "guess"),
            None if candidate.risk is None else candidate.risk.attribute,
            _together(None if candidate.cells is None else candidate.cells[0]),
            _together(None if candidate.cells is None else candidate.cells[1]),
            _together(None if candidate.ncp is None else 1 - candidate.ncp),
            _together(average),
            "–" if candidate.sizes is None else f"{candidate.sizes.groups:,}",
            f"{candidate.suppressed:,}",
            f"{candidate.seconds:.2f}",
            stem,
            (
                ("report", quote(f"{stem}/{NAME}", safe=_SAFE)),
                ("manifest", quote(f"{stem}/manifest.json", safe=_SAFE)),
                ("policy", quote(f"{stem}.yaml", safe=_SAFE)),
            ),
        )

    def _point(self, number: int, candidate: Candidate, risk: float) -> Point:
        several = len({each.of for each in self.candidates}) > 1
        varied = ", ".join(f"{name}={value}" for name, value in candidate.varied.items())
        return Point(
            number,
            candidate.name,
            candidate.name if several or not varied else varied,
            risk,
            1 - (candidate.ncp or 0.0),
            quote(f"{file_stem(candidate, number)}/{NAME}", safe=_SAFE),
            self._series(candidate),
            candidate.name in self.beaten,
        )

    def _series(self, candidate: Candidate) -> int:
        """A number for policies that differ in one parameter only, the first that is a number."""
        along = next((name for name in candidate.varied if self._is_number(name)), None)
        keys = {
            each.name: (each.of, *(value for name, value in each.varied.items() if name != along))
            for each in self.candidates
        }
        return list(dict.fromkeys(keys.values())).index(keys[candidate.name])

    def _is_number(self, parameter: str) -> bool:
        """Whether all values of a parameter that varies are numbers."""
        try:
            return all(math.isfinite(float(each.varied[parameter])) for each in self.candidates)
        except ValueError:
            return False


_RISKS = {
    "average": (
        "Risk of being found, on average, and 1 - NCP",
        "average risk of being found",
        "",
    ),
    "highest": (
        "Risk of being found, at worst",
        "highest risk of being found",
        "Of the person who is easiest to find: 1 / smallest group.",
    ),
    "guess": (
        "Risk of a sensitive value being guessed",
        "best guess is right",
        "Of the sensitive attribute that is guessed best, by the most frequent value of a group.",
    ),
}
"""For each risk the title of its picture, the name of its axis, and what stands below it."""


def _held(which: str, releases: Sequence[ReleaseRisks]) -> list[tuple[str, float]]:
    """What risks are held against: the source's, and a blind guess, if all agree."""
    found = []
    before: set[float | None] = {getattr(each.before, which) for each in releases}
    if len(before) == 1 and (risk := before.pop()) is not None:
        found.append(("source", risk))
    chances = {each.by_chance for each in releases}
    if which == "guess" and len(chances) == 1 and (chance := chances.pop()) is not None:
        found.append(("blind guess", chance))
    return found


def _shown(risks: Risks | None, which: str) -> str:
    return _together(None if risks is None else getattr(risks, which))


def _together(share: float | None) -> str:
    """A share as a percentage that is not broken at the end of a line; "–" where unknown."""
    return "–" if share is None else percent(share).replace(" ", "\N{NO-BREAK SPACE}")


def _failed(number: int, candidate: Candidate) -> Failed:
    return Failed(
        number,
        candidate.name,
        "; ".join(candidate.promises),
        candidate.problem or "",
        quote(f"{file_stem(candidate, number)}.yaml", safe=_SAFE),
    )
