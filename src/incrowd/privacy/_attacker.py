"""Attackers who know some of a patient's events, and what a model promises against them.

What an attacker may know of a patient are *atoms*: one for each quasi-identifier of the patient
(attribute and label, `*` too, for others show values beside it that are not the known one), and one
for each distinct tuple of labels that the rows of a table show of it. The support of some atoms are
the patients who have all of them. A model bounds, for every patient and every choice of so many
atoms of it, the size of the support and the shares of those in it who hold a protected value.

Invariant (local recoding is sound): an attacker who knows true values of a patient, whose rows
show labels of these, finds at least the patients with the same labels: they are a support, so they
are K or more, whatever labels others show. An attacker who knows a coarser value, or fewer atoms,
finds at least these as well: supports only grow, so nothing but the largest choices of the labels
themselves needs counting. What is protected is no atom: who knows it has nothing left to learn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from pydantic import PrivateAttr

from incrowd.errors import ParameterError
from incrowd.hierarchies.base import ROOT_LABEL
from incrowd.privacy.base import PrivacyModel

if TYPE_CHECKING:
    from incrowd._runtime.arrays import BoolArray
    from incrowd.counts.groups import Groups
    from incrowd.hierarchies import Hierarchy
    from incrowd.privacy._measurement import Measurement
    from incrowd.table import Column

Protected = Mapping[str, tuple[str | None, ...]]
"""The protected values of each attribute, as its column writes them; None for missing cells."""


ModelT = TypeVar("ModelT", bound=PrivacyModel)


@dataclass(frozen=True)
class Adversary:
    """Who knows some atoms of a patient, and what must hold of the patients whom these fit.

    Parameters
    ----------
    L
        How many atoms are known at most.
    K
        How many patients they fit at least.
    C
        The largest share of those with a protected value.
    attributes, events
        How many of the atoms are of the patient, and of events; None for as many as `L`.
    jointly
        Whether all quasi-identifiers of a patient together are one atom.
    protected
        The values that `C` is about.
    """

    L: int
    K: int
    C: float = 1.0
    attributes: int | None = None
    events: int | None = None
    jointly: bool = False
    protected: Protected = field(default_factory=dict, repr=False)

    @property
    def of_patients(self) -> int:
        """How many quasi-identifiers of a patient may be known."""
        return self.L if self.attributes is None else min(self.attributes, self.L)

    @property
    def of_events(self) -> int:
        """How many events may be known."""
        return self.L if self.events is None else min(self.events, self.L)


def protected_values(
    name: str,
    attributes: Sequence[str],
    values: Sequence[str] | None,
    columns: Mapping[str, Column],
    hierarchies: Mapping[str, Hierarchy],
) -> dict[str, tuple[str | None, ...]]:
    """The protected values of each attribute; labels of its hierarchy stand for all below them.

    Parameters
    ----------
    name
        The model, for messages.
    attributes
        What holds the values.
    values
        Those that are protected; None for all.
    columns, hierarchies
        The columns and hierarchies of a table.

    Raises
    ------
    ParameterError
        A value is nowhere to be found.

    Notes
    -----
    A text that is a value and a label as well stands for all below the label: so no label that is
    published says what is protected.
    """
    found: dict[str, tuple[str | None, ...]] = {}
    known: set[str] = set()
    for attribute in attributes:
        if attribute not in columns:
            raise ParameterError(f"{name}: there is no sensitive attribute '{attribute}'.")
        column, hierarchy = columns[attribute], hierarchies.get(attribute)
        if values is None:
            found[attribute] = (*column.values, *([None] if column.missing else []))
            continue
        named = dict(zip(values, column.named(values), strict=True))
        below = {} if hierarchy is None else hierarchy.meanings(column)
        taken = [each for each in named.values() if each is not None]
        for text in values:
            if text != ROOT_LABEL and text in below:
                taken += below[text]
                known.add(text)
        known |= {text for text, value in named.items() if value is not None}
        found[attribute] = tuple(dict.fromkeys(taken))
    absent = [text for text in values or () if text not in known]
    if absent:
        named_there = "', '".join(attributes)
        raise ParameterError(
            f"{name}: {len(absent)} of the values listed for '{named_there}' neither "
            "occur there nor are labels of its hierarchy. Write them as they stand there."
        )
    return found


def bound_to_values(
    model: ModelT, columns: Mapping[str, Column], hierarchies: Mapping[str, Hierarchy]
) -> tuple[ModelT, Protected]:
    """The model with the protected values that occur, where some are listed, and all by column."""
    values = getattr(model, "values", None)
    found = protected_values(model.name, model.sensitive_attributes, values, columns, hierarchies)
    if values is None:
        return model.model_copy(), found
    every = [text for each in found.values() for text in each if text is not None]
    return model.model_copy(update={"values": list(dict.fromkeys(every))}), found


def unescaped(published: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Published texts by attribute, with the values that some of them are, as labels, marks of."""
    return {
        name: texts | {text[1:] for text in texts if text.startswith("\\")}
        for name, texts in published.items()
    }


class AgainstKnownEvents(PrivacyModel):
    """A model about nothing but attackers who know some atoms of a patient."""

    monotone: ClassVar[bool] = True

    _protected: Protected = PrivateAttr(default_factory=dict)

    @property
    def counted_attributes(self) -> tuple[str, ...]:
        """None: who holds what is counted for every support, by the method."""
        return ()

    @property
    def judges_events(self) -> bool:
        """Whether a sensitive attribute may be one of events: judged value by value."""
        return True

    def holds(self, groups: Groups) -> BoolArray:
        """For each support, whether it is large enough."""
        return groups.sizes >= self.least_records

    def reached(self, groups: Groups) -> dict[str, float]:
        """The size of the smallest support."""
        return {self.size: int(groups.sizes.min())}

    def bind(self, columns: Mapping[str, Column], hierarchies: Mapping[str, Hierarchy]) -> Self:
        """The model with its protected values, as the columns write them."""
        bound, protected = bound_to_values(self, columns, hierarchies)
        bound._protected = protected
        return bound

    def promise_about(self, published: Mapping[str, set[str]]) -> dict[str, object]:
        """The promise, with the protected values that are published."""
        return super().promise_about(unescaped(published))

    def check(
        self,
        frame: object,
        quasi: Sequence[str],
        *,
        kinds: Mapping[str, Any] | None = None,  # noqa: ARG002 - cells are compared as written
        unit: str | None = None,
        attributes: Sequence[str] = (),
    ) -> Measurement:
        """Judge a table with a row for each event.

        Parameters
        ----------
        frame
            A pandas, polars or Arrow frame, or a path.
        quasi
            The columns of events that are known together: a row is one atom.
        kinds
            Types, which are of no account: cells are compared as they are written.
        unit
            The column that tells patients apart.
        attributes
            The quasi-identifiers of patients, the same in all rows of one.
        """
        from incrowd.privacy._checking_events import check_events

        return check_events(self, frame, quasi=quasi, unit=unit, attributes=attributes)
