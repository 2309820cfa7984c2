"""What every privacy model has in common: its parameters, and how it judges counts of groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, PrivateAttr, ValidationError
from pydantic.fields import FieldInfo

from incrowd._runtime.arrays import BoolArray, IntArray
from incrowd._runtime.sentences import listed
from incrowd._runtime.validation_messages import explain_validation
from incrowd.counts.groups import Groups, Histogram
from incrowd.errors import ParameterError, PrivacyError
from incrowd.privacy import _words as words
from incrowd.privacy._measurement import Measurement
from incrowd.privacy.parameters import Means, holds_texts, meaning, published_alone
from incrowd.table.spellings import by_key

if TYPE_CHECKING:
    from incrowd.counts import FrequencySet
    from incrowd.hierarchies import Hierarchy
    from incrowd.privacy._attacker import Adversary
    from incrowd.table import Column
    from incrowd.table.profiles import SetColumn


SLACK = 1e-9
"""Comparisons of real numbers allow this much, so that 1/3 + 1/3 + 1/3 passes for 1."""


@dataclass(frozen=True)
class CrowdBounds:
    """A model that bounds nothing but the sizes of crowds and the shares of values in them.

    Every combination of `known` quasi-identifiers (None: of all) is shared by at least K records,
    of which at most the share C hold any one of the `listed` sensitive values (None: of all
    `cardinality` values). `sensitive` is None where C is 1 and no value is counted.
    """

    known: int | None
    K: int
    C: float = 1.0
    sensitive: str | None = None
    listed: IntArray | None = None
    cardinality: int = 0


@dataclass(frozen=True)
class Certainty:
    """What a model bounds of an attacker's certainty about the values of one attribute.

    `kind` is `shares` (how large a share of a group one value may have), `distance` (how far a
    group may be from the whole table, which says nothing of values that are frequent there) or
    `several` (that more than one value remains). `listed` is whether about some values alone;
    `known` against how many known quasi-identifiers, None where against all; with `facts` these
    may be events as well.
    """

    kind: Literal["shares", "distance", "several"]
    listed: bool = False
    known: int | None = None
    facts: bool = False

    @property
    def strength(self) -> tuple[bool, int, float]:
        """By what the strongest of several bounds is chosen."""
        order = ("several", "distance", "shares")
        known = float("inf") if self.known is None else self.known
        return not self.listed, order.index(self.kind), known


class PrivacyModel(BaseModel, ABC):
    """A promise about every group of records that look alike.

    A model is *monotone* when joining two groups that satisfy it gives a group that does: then
    coarser tables stay private, and methods may search from either end. Each model states in its
    docstring why it is (the invariant).
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: ClassVar[str]
    place: ClassVar[int] = 1000
    """Where it stands in lists of all models."""
    common: ClassVar[bool] = False
    """Whether most releases need it, so that it is offered first."""
    plain: ClassVar[str]
    """What people may call it who never read a paper."""
    literature: ClassVar[str] = ""
    """What the literature calls it, where that is not its name in a policy."""
    wording: ClassVar[str] = ""
    """A sentence on what an attacker still finds, as `words.told` fills it; else the summary."""
    readings: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """How the sentence reads with each choice of a parameter."""
    monotone: ClassVar[bool] = True
    size: ClassVar[str] = ""
    """The parameter that says how many records a group has at least, if one does."""
    share: ClassVar[str] = ""
    """The parameter that bounds the share of a value in a group, if one does and that is all."""
    partial: ClassVar[str] = ""
    """The parameter that says how many quasi-identifiers an attacker knows; empty where all."""
    only_with: ClassVar[Mapping[str, tuple[str, str]]] = {}
    """Parameters that go with one value of another one alone."""
    takes_several: ClassVar[bool] = False
    """Whether `sensitive` is a list of attributes."""
    counts_jointly: ClassVar[bool] = False
    """Whether the model counts the combinations of its sensitive attributes, as one column."""
    summary: ClassVar[str]
    """One sentence for people: what an attacker cannot do."""
    weakness: ClassVar[str]
    """One sentence for people: what the model does not protect against."""
    over_events: ClassVar[str] = ""
    """How a policy may ask it about an attribute of events, of which a patient has several values,
    as in `name {parameter: value}`; empty where it counts one value for each patient."""
    against_events: ClassVar[str] = ""
    """How a policy may ask it about attackers who know events, as in `name {parameter}`."""
    knows_patients: ClassVar[bool] = False
    """Whether such attackers may know quasi-identifiers of patients as well."""

    _sets: SetColumn | None = PrivateAttr(default=None)

    def __init__(self, **parameters: Any) -> None:
        try:
            super().__init__(**parameters)
        except ValidationError as error:
            raise ParameterError(explain_validation(error, type(self), self.name)) from None

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        """Refuse parameters with texts of which nothing says whether they may be published."""
        super().__pydantic_init_subclass__(**kwargs)
        means = cls.means()
        unsaid = [
            name
            for name, field in cls.parameters().items()
            if means[name] is None and holds_texts(field.annotation)
        ]
        if unsaid and cls.promise_about is PrivacyModel.promise_about:
            raise TypeError(
                f"{cls.__name__}: the texts of {', '.join(unsaid)} would be published with every "
                "promise. Say by the type what they are, as in Values, or write `promise_about`."
            )

    @classmethod
    def title(cls) -> str:
        """What it is called, for people and for those who read papers."""
        return f"{cls.plain} ({cls.literature or cls.name})"

    @classmethod
    def sentence(cls, p: Mapping[str, Any]) -> str:
        """What it promises with these parameters, of which some may still be missing."""
        lists = [p.get(name) for name, means in cls.means().items() if means is Means.VALUES]
        listed = [each for values in lists if isinstance(values, list) for each in values]
        return words.told(cls.wording or cls.summary, {**p, "values": listed}, cls.readings)

    @classmethod
    def parameters(cls) -> dict[str, FieldInfo]:
        """Its parameters as a policy writes them, with what is legal, an example and a hint."""
        return {field.alias or name: field for name, field in cls.model_fields.items()}

    @classmethod
    def means(cls) -> dict[str, Means | None]:
        """What each of its parameters holds, as its type says."""
        return {name: meaning(name, field) for name, field in cls.parameters().items()}

    @classmethod
    def tells_safe_size(cls) -> bool:
        """Whether it tells, of some groups at least, a size from which on every part holds."""
        return cls.safe_size is not PrivacyModel.safe_size

    @classmethod
    def starting(cls, sensitive: Sequence[str]) -> dict[str, Any]:
        """Parameters to begin with, for the first of these sensitive columns."""
        asked = {
            name: field.examples[0] for name, field in cls.parameters().items() if field.examples
        }
        if "sensitive" in cls.model_fields and (sensitive or cls.takes_several):
            asked["sensitive"] = list(sensitive[:2]) if cls.takes_several else sensitive[0]
        return asked

    @classmethod
    def bounds_crowds(cls) -> bool:
        """Whether it is no more than bounds on crowds, which hospitals can judge by sums."""
        return cls.bounds is not PrivacyModel.bounds

    @property
    def least_records(self) -> int:
        """The number of records that a group has at least, where a parameter says so."""
        return int(getattr(self, self.size)) if self.size else 0

    @property
    def sensitive_attributes(self) -> tuple[str, ...]:
        """The attributes whose values the model counts: what its field `sensitive` names."""
        named = getattr(self, "sensitive", None)
        return (named,) if isinstance(named, str) else tuple(named or ())

    @property
    def listed_values(self) -> tuple[str, ...]:
        """The values of its attributes that its parameters list, outside of categories."""
        lists = self._held(lambda means: means is Means.VALUES).values()
        return tuple(each for listed in lists for each in listed)

    @property
    def categories_of_values(self) -> list[list[str]] | None:
        """The categories that it puts the values of its attributes into, where they are listed."""
        held = self._held(lambda means: means is Means.CATEGORIES).values()
        return next((each for each in held if isinstance(each, list)), None)

    def _held(self, asked: Callable[[Means], bool]) -> dict[str, Any]:
        """What its fields with one of some meanings hold, where they are not left out."""
        means = {name: meaning(name, field) for name, field in type(self).model_fields.items()}
        found = {name: getattr(self, name) for name, each in means.items() if each and asked(each)}
        return {name: held for name, held in found.items() if held is not None}

    @property
    def counted_attributes(self) -> tuple[str, ...]:
        """The names of the histograms that the model judges."""
        return self.sensitive_attributes if self._sets is None else (self._sets.name,)

    @property
    def judges_events(self) -> bool:
        """Whether it may be about an attribute of events: judged value by value.

        Invariant: what it asks of a group is asked of each value by itself, of the share of the
        patients who hold it; so it does not matter that shares may add up to more than 1.
        """
        return bool(self.over_events)

    def over(self, sets: SetColumn) -> Self:
        """The bound model, judging the values of the sets that patients hold."""
        made = self.model_copy()
        made._sets = sets
        return made

    def histogram(self, groups: Groups) -> Histogram:
        """How many records of each group hold each value of its first sensitive attribute."""
        found = groups.histograms[self.counted_attributes[0]]
        if self._sets is None:
            return found
        from incrowd.counts.histograms import by_value

        return by_value(found, self._sets)

    @property
    def smallest_group(self) -> int:
        """A lower bound on the size of a group that satisfies the model."""
        return max(self.least_records, 1)

    @property
    def distinct_values(self) -> int:
        """How many different values of its attribute a group that satisfies the model has."""
        return 0

    @property
    def needed_values(self) -> int:
        """With how many different values, once each, a group may satisfy the model."""
        return self.distinct_values

    @property
    def counts_alone(self) -> bool:
        """Whether `smallest_group` and `distinct_values` are all that the model asks for."""
        return False

    @property
    def growing(self) -> bool:
        """Whether a group that satisfies the model still does with any records added.

        Stronger than monotone: the records added need not satisfy the model themselves.
        """
        return False

    @property
    def vacuous(self) -> bool:
        """Whether every table satisfies the model, so that it promises nothing."""
        return False

    @property
    def bounds(self) -> CrowdBounds | None:
        """The model as bounds on crowds, where it is no more than that."""
        return None

    @property
    def attacker(self) -> Adversary | None:
        """Who knows events of patients, where the model is about that; else nobody."""
        return None

    @property
    def certainty(self) -> Mapping[str, Certainty]:
        """What it bounds of an attacker's certainty, for each attribute whose values it protects.

        Nothing, unless a model says so: a report calls bounded only what is named here.
        """
        return {}

    @abstractmethod
    def holds(self, groups: Groups) -> BoolArray:
        """For each group, whether it satisfies the model."""

    def safe_size(self, groups: Groups) -> IntArray | None:  # noqa: ARG002 - for models that tell
        """For each group, a size from which on every part of it holds, whatever records it has.

        None where the model does not tell one.
        """
        return None

    def reaches(self, whole: Groups) -> bool:
        """Whether all records in one group satisfy the model; if not, no grouping does."""
        return bool(self.holds(whole).all())

    @abstractmethod
    def reached(self, groups: Groups) -> dict[str, float]:
        """The strongest parameters that all groups satisfy, or what they must exceed."""

    def measure(self, groups: Groups) -> Measurement:
        """Whether all groups satisfy the model, what they reach, and how many fail."""
        failing = int((~self.holds(groups)).sum())
        return Measurement(not failing, self.reached(groups), failing)

    def measure_set(self, found: FrequencySet, columns: Mapping[str, Column]) -> Measurement:  # noqa: ARG002 - for models of parts of a group
        """The strongest parameters that a table satisfies, from its frequency set."""
        return self.measure(found.groups)

    def bind(
        self,
        columns: Mapping[str, Column],
        hierarchies: Mapping[str, Hierarchy],  # noqa: ARG002 - for models over hierarchies
    ) -> PrivacyModel:
        """The model made ready for the columns of a table; raises when it does not fit them."""
        for name in self.sensitive_attributes:
            if name not in columns:
                raise ParameterError(f"{self.name}: there is no sensitive attribute '{name}'.")
        self.refuse_unknown_values(columns)
        return self

    def refuse_unknown_values(self, columns: Mapping[str, Column]) -> None:
        """Refuse listed values that do not occur in the sensitive attribute."""
        wanted, names = self.listed_values, self.sensitive_attributes
        there = [columns[name].named(wanted) for name in names]
        absent = [
            text
            for text, *values in zip(wanted, *there, strict=True)
            if all(value is None for value in values)
        ]
        if absent:
            named = "', '".join(names)
            raise ParameterError(
                f"{self.name}: {len(absent)} of the values listed for '{named}' do not occur in "
                f"it: {listed(absent)}."
            )

    def promise(self) -> dict[str, object]:
        """The model and its parameters as the manifest states them."""
        return {"model": self.name, "parameters": self.model_dump(mode="json", by_alias=True)}

    def promise_about(self, published: Mapping[str, set[str]]) -> dict[str, object]:
        """The promise, without any value that no published record has (by attribute).

        Of categories one may be left without any value.
        """
        lists = self._held(lambda means: means.lists_values)
        if not lists:
            return self.promise()
        there = by_key(text for name in self.sensitive_attributes for text in published[name])
        known = {name: published_alone(held, there) for name, held in lists.items()}
        if any(held and not known[name] for name, held in lists.items()):
            named = "', '".join(self.sensitive_attributes)
            raise PrivacyError(
                f"{self.name}: every record with one of the values listed for '{named}' is "
                "suppressed, so nothing is left to promise. Lower `suppression:`, or leave the "
                "model out."
            )
        return self.model_copy(update=known).promise()

    def check(
        self,
        frame: object,
        quasi: Sequence[str],
        *,
        kinds: Mapping[str, Any] | None = None,
    ) -> Measurement:
        """Judge any table: pandas, polars, Arrow or a path, grouped by its quasi-identifiers."""
        from incrowd.privacy._checking import check_frame

        return check_frame(self, frame, quasi=quasi, kinds=kinds)
