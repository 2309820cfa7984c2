"""(l, alpha)-diversity: l-diversity of values or categories, and enough harmless records."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import BeforeValidator, Field, PrivateAttr, WithJsonSchema

from incrowd._runtime.arrays import BoolArray, FloatArray, IntArray
from incrowd.counts.groups import Groups, segment_sum
from incrowd.errors import ParameterError
from incrowd.privacy._categories import (
    CATEGORIES_SCHEMA,
    LARGEST,
    WEIGHTS_SCHEMA,
    CategoryLevel,
    SensitivityWeights,
    by_category,
    legal_categories,
    legal_weights,
    lists_of_level,
    weight_parts,
)
from incrowd.privacy.base import SLACK, PrivacyModel
from incrowd.privacy.l_diversity import LDiversity
from incrowd.privacy.parameters import Means

if TYPE_CHECKING:
    from incrowd.hierarchies import Hierarchy
    from incrowd.table import Column


class LAlphaDiversity(LDiversity):
    """Every group is l-diverse, and the total weight of its records is at least alpha.

    The values of the sensitive attribute fall into categories, from the most to the least
    sensitive, which weigh from 0 to 1. `uniform` weights rise in equal steps; with
    `{sensitivity: beta}` the step from category i to the next is in proportion to 1 / i^beta. A
    record weighs as its value's category, and a group as all its records, so alpha demands
    records that give little away beside those that do.

    Kinds: `distinct` (at least l different values), `entropy` (entropy of the categories at least
    log l), `recursive` (with counts of categories r1 >= r2 >= …: r1 < c (r_l + r_(l+1) + …)). The
    paper asks the last two for l different values as well; that follows: each makes l or more
    categories occur, and values of different categories differ.

    Invariant: joining two groups adds their weights and unites their values; entropy is concave in
    the distribution of categories; r_l + … + r_m is the smallest total left after removing l - 1
    categories, hence superadditive, while r1 is subadditive. All three kinds are monotone.
    `distinct` is growing: no weight is negative, and records added take no value away.

    Notes
    -----
    Uniform weights, and those of a whole beta, are fractions: totals are then compared as whole
    numbers (as long as these fit into 64 bits), else as floats; alpha may be missed by a billionth.
    Cost: linear in the entries of the histograms.

    References
    ----------
    Sun, Li, Wang (2010), A family of enhanced (l, alpha)-diversity models for privacy preserving
    data publishing, Definitions 3 to 6. Differs from the paper: its example of weights with
    beta = 2 does not follow from its formula, which is what is computed here.

    Example
    -------
    >>> import polars
    >>> frame = polars.DataFrame({"age": ["<40"] * 4, "disease": ["HIV", "HIV", "Cancer", "Flu"]})
    >>> model = LAlphaDiversity(
    ...     l=3, alpha=1, sensitive="disease", categories=[["HIV", "Cancer"], ["Asthma"], ["Flu"]]
    ... )
    >>> found = model.check(frame, quasi=["age"])
    >>> found.holds, found.numbers
    (True, {'l': 3.0, 'alpha': 1.0})
    """

    name: ClassVar[str] = "l-alpha-diversity"
    place: ClassVar[int] = 10
    common: ClassVar[bool] = False
    counts_alone: ClassVar[bool] = False
    """Weights count as well."""
    plain: ClassVar[str] = "Variety, weighed by how sensitive values are"
    literature: ClassVar[str] = "(l, alpha)-diversity"
    wording: ClassVar[str] = (
        f"{LDiversity.wording.removesuffix('.')}, and among them are enough records with harmless "
        "values: they weigh at least {alpha} together, where the most sensitive category weighs 0 "
        "and the least sensitive 1."
    )
    summary: ClassVar[str] = (
        "An attacker who finds a person's group still faces at least l values or categories, and "
        "records of little sensitivity that weigh at least alpha together."
    )
    over_events: ClassVar[str] = ""
    weakness: ClassVar[str] = (
        "In a large group few harmless records make up alpha: `distinct` does not bound how "
        "frequent the most sensitive values are. Shares may be far from the table's (skewness)."
    )

    kind: Literal["distinct", "entropy", "recursive"] = Field(
        default="distinct", examples=["distinct"], description="how variety is counted"
    )
    alpha: float = Field(
        ge=0.0, allow_inf_nan=False, examples=[1.0], description="weight of a group, at least"
    )
    categories: Annotated[
        list[list[str]] | CategoryLevel,
        BeforeValidator(legal_categories),
        WithJsonSchema(CATEGORIES_SCHEMA),
        Means.CATEGORIES,
    ] = Field(description="the most sensitive first; on the page a line each, values with commas")
    weights: Annotated[
        Literal["uniform"] | SensitivityWeights,
        BeforeValidator(legal_weights),
        WithJsonSchema(WEIGHTS_SCHEMA),
        Means.WEIGHTS,
    ] = Field(
        default="uniform",
        title="Sensitivity",
        description="left out: categories weigh in equal steps; else at least 1",
    )

    _category_of: IntArray | None = PrivateAttr(default=None)
    _parts: npt.NDArray[Any] | None = PrivateAttr(default=None)

    safe_size = PrivacyModel.safe_size  # a part may have records of the least weight only

    @property
    def vacuous(self) -> bool:
        """With l = 1 and no weight to reach any table will do."""
        return super().vacuous and self.alpha <= 0

    @property
    def smallest_group(self) -> int:
        """A group has at least l records, and at least alpha, for none weighs more than 1."""
        return max(super().smallest_group, math.ceil(self.alpha - SLACK))

    @property
    def beta(self) -> float:
        """How fast the steps of weight shrink from category to category; 0 where they do not."""
        return 0.0 if self.weights == "uniform" else self.weights.sensitivity

    def bind(self, columns: Mapping[str, Column], hierarchies: Mapping[str, Hierarchy]) -> Self:
        """The model with the category and the weight of every value; refuses values without one.

        Categories taken from a hierarchy become lists of the values that occur. Listed values that
        do not occur change nothing.
        """
        super().bind(columns, hierarchies)
        column = columns[self.sensitive]
        values = (*column.values, *([""] if column.missing else []))
        lists = self.categories
        if isinstance(lists, CategoryLevel):
            try:
                lists = lists_of_level(
                    lists, self.sensitive, values, hierarchies.get(self.sensitive)
                )
            except ParameterError as error:
                raise ParameterError(f"{self.name}: {error}") from None
        lists = [_as_written(each, column) for each in lists]
        category = {value: number for number, each in enumerate(lists) for value in each}
        self._refuse_uncovered([value for value in values if value not in category])
        if self.kind != "distinct" and self.l > len(lists) + SLACK:
            raise ParameterError(
                f"{self.name}: l is {self.l:g}, but the {self.kind} kind counts categories, and "
                f"there are only {len(lists)}. Choose an l of at most {len(lists)}."
            )
        bound = self.model_copy(update={"categories": lists})
        bound._category_of = np.array([category[value] for value in values], dtype=np.int64)
        bound._parts = np.array(weight_parts(len(lists), self.beta))
        return bound

    def holds(self, groups: Groups) -> BoolArray:
        """For each group, whether it is l-diverse and weighs at least alpha."""
        return super().holds(self._diversified(groups)) & self._heavy(groups)

    def reached(self, groups: Groups) -> dict[str, float]:
        """The l (for `recursive` the c) of the least diverse group; the least weight, as alpha."""
        lightest = float(self.total_weights(groups).min())
        return {**super().reached(self._diversified(groups)), "alpha": lightest}

    def total_weights(self, groups: Groups) -> FloatArray:
        """For each group, the total weight of its records."""
        parts, whole = self._totals(groups)
        return parts / whole

    @property
    def _lists(self) -> list[list[str]]:
        assert isinstance(self.categories, list), "bind the model to a table first"
        return self.categories

    def _heavy(self, groups: Groups) -> BoolArray:
        """Whether each group weighs at least alpha, up to SLACK."""
        parts, whole = self._totals(groups)
        if isinstance(whole, float):
            return np.asarray(parts / whole >= self.alpha - SLACK)
        least = math.ceil((Fraction(self.alpha) - Fraction(str(SLACK))) * whole)
        return np.asarray(parts >= min(least, LARGEST))

    def _totals(self, groups: Groups) -> tuple[npt.NDArray[Any], int | float]:
        """The weight of each group in parts, and how many parts weigh 1.

        Both are whole numbers where weights are fractions and no total can leave 64 bits.
        """
        assert self._parts is not None, "bind the model to a table first"
        assert self._category_of is not None
        histogram = groups.histograms[self.sensitive]
        part_of, whole = self._parts, self._parts[-1].item()
        if int(histogram.total.sum()) * whole >= LARGEST:
            part_of, whole = part_of.astype(np.float64), float(whole)
        weights = histogram.counts * part_of[self._category_of[histogram.values]]
        return segment_sum(weights, histogram.offsets), whole

    def _diversified(self, groups: Groups) -> Groups:
        """The groups with counts of what must be diverse: values, or categories."""
        if self.kind == "distinct":
            return groups
        assert self._category_of is not None, "bind the model to a table first"
        histogram = groups.histograms[self.sensitive]
        counted = by_category(histogram, self._category_of, len(self._lists))
        return Groups(groups.sizes, {self.sensitive: counted})

    def _refuse_uncovered(self, uncovered: list[str]) -> None:
        """Refuse values that occur and have no category; they are counted, not named."""
        if not uncovered:
            return
        told = "" if "" not in uncovered else " Missing cells are one of them; name them ''."
        raise ParameterError(
            f"{self.name}: {len(uncovered)} value(s) that occur in '{self.sensitive}' are in no "
            f"category. List every value in one of the categories.{told}"
        )


def _as_written(texts: list[str], column: Column) -> list[str]:
    """The values of a category as the column writes them, each once; others as they are."""
    named = zip(texts, column.named(texts), strict=True)
    return list(dict.fromkeys(text if value is None else value for text, value in named))
