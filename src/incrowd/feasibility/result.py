"""What is found about the feasibility of a k: figures, JSON, and one sentence for a reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from incrowd._runtime.plain_fields import PlainFields

if TYPE_CHECKING:
    from incrowd.feasibility._advice import Advice


@dataclass(frozen=True)
class Attribute:
    """An attribute by its name and how many values it has."""

    name: str
    values: int


@dataclass(frozen=True)
class InFile:
    """What holds of the file itself, whatever is likely."""

    source: str
    records: int
    k_anonymous: bool
    smallest_group: int
    groups: int
    groups_below_k: int
    records_below_k: int
    """Records in groups of fewer than k: those that would have to be dropped."""


@dataclass(frozen=True)
class Feasibility(PlainFields):
    """How likely so many records with these attributes are k-anonymous as they are."""

    attributes: tuple[Attribute, ...]
    combinations: float
    records: int
    k: int
    probability: float
    """By the closed form."""
    exact: bool
    """Whether the closed form is exact but for rounding, or an approximation."""
    below_k: float
    """The records expected in groups of fewer than k."""
    simulated: float | None
    """The share of simulated tables; None when too many records would have to be drawn."""
    standard_error: float | None
    """Of the simulated share."""
    simulations: int
    target: float
    records_needed: int | None
    """For the target; None when 10^15 are not enough."""
    advice: tuple[Advice, ...]
    """The attributes, the one to generalize or leave out first at the top."""
    in_file: InFile | None = None

    def one_sentence(self) -> str:
        """The answer, and what to do about it where the chance is below the target."""
        count = len(self.attributes)
        subject = f"{self.records:,} records with {'this' if count == 1 else f'these {count}'}"
        subject += " attribute" if count == 1 else " attributes"
        text = (
            f"{subject} are {self.k}-anonymous with a chance of {chance_in_words(self.probability)}"
        )
        if self.probability >= self.target:
            return f"{text}; {self._enough()}."
        first = self.advice[0]
        raised = f"generalize or leave out '{first.attribute}' first: without it the chance is "
        raised += chance_in_words(first.left_out)
        if first.left_out < self.target:
            raised += f", and {self._small(first.below_k)}"
        elif first.values > 2:
            raised += f", with half as many values of it {chance_in_words(first.halved)}"
        return f"{text}, and {self._small(self.below_k)}; {self._missing()}; {raised}."

    def _small(self, below: float) -> str:
        return f"about {round(below):,} of them are in groups of fewer than {self.k}"

    def _enough(self) -> str:
        assert self.records_needed is not None
        return f"{chance_in_words(self.target)} need about {self.records_needed:,} records"

    def _missing(self) -> str:
        if self.records_needed is None:
            return f"no number of records up to 10^15 is enough for {chance_in_words(self.target)}"
        return self._enough()


def chance_in_words(chance: float) -> str:
    """A chance as a reader wants it: `70 %`, `0.21 %`, `below 0.01 %`, `above 99.99 %`."""
    if chance <= 0:
        return "practically 0"
    if chance < 1e-4:
        return "below 0.01 %"
    if 1 - 1e-4 < chance < 1:
        return "above 99.99 %"
    digits = 2 if min(chance, 1 - chance) < 0.01 else 1 if min(chance, 1 - chance) < 0.1 else 0
    if abs(round(100 * chance) - 100 * chance) < 1e-9:
        digits = 0
    return f"{100 * chance:.{digits}f} %"
