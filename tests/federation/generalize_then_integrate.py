"""The naive way to a joint table: every hospital anonymizes its own records, then they are joined.

"Generalize, then integrate" needs no network and no trust, and is what hospitals do today. It is
here as the baseline that a joint run is measured by: each hospital alone has fewer records in which
a patient can be lost, so it must hide more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from incrowd._runtime.sentences import listed
from incrowd.engines.preparation import prepare
from incrowd.errors import IncrowdError, InputError, ParameterError, PolicyError, nearest
from incrowd.hierarchies import Hierarchy
from incrowd.hierarchies.labels import plain_label
from incrowd.methods.geometry import shown_labels
from incrowd.pipeline import anonymize
from incrowd.policy import as_policy
from incrowd.policy.units import ROW
from incrowd.privacy._shares import BoundedShares
from incrowd.sources import read
from incrowd.table.coding import code_column
from incrowd.table.spellings import folded

if TYPE_CHECKING:
    from incrowd.policy import Policy
    from incrowd.privacy.base import PrivacyModel
    from incrowd.table import Column

_COUNTS = ("source", "published", "suppressed", "missing_dropped")

LabelMap = dict[str | None, str | None]
"""By the label that a hospital shows (None: missing) the one that all show."""


@dataclass(frozen=True)
class IntegratedTable:
    """The tables of several hospitals as one, readable like a release; see the function below.

    `data` has the records of all, sorted by what they show. `manifest` has what metrics need to
    read them: the counts of records, the published attributes and what all hospitals promise.
    """

    data: pl.DataFrame
    manifest: dict[str, Any]
    parts: tuple[pl.DataFrame, ...]
    """The records of each hospital as they are in `data`, in the order that it was given in."""

    @property
    def tables(self) -> Mapping[str, pl.DataFrame]:
        """The one table, by the name that a release gives it."""
        return {"data": self.data}

    @property
    def quasi(self) -> list[str]:
        """The published quasi-identifiers."""
        entries = self.manifest["attributes"]
        return [str(entry["name"]) for entry in entries if entry["role"] == "quasi"]

    @cached_property
    def traceable(self) -> float:
        """The share of records whose labels a single hospital shows, so that they name it.

        Cuts differ, and whoever knows one hospital's cut knows its records: a joint release has
        one cut, and tells nobody's records from another's.
        """
        shown = pl.concat(
            part.select(self.quasi).with_columns(pl.lit(place).alias("@hospital"))
            for place, part in enumerate(self.parts)
        )
        found = shown.group_by(self.quasi).agg(
            pl.len().alias("@records"), pl.col("@hospital").n_unique()
        )
        alone = found.filter(pl.col("@hospital") == 1)["@records"].sum()
        return float(alone / self.data.height)


def generalize_then_integrate(
    frames: Sequence[Any],
    policy: Policy | Mapping[str, Any] | str | Path,
    *,
    accept_unprotected: bool = False,
) -> IntegratedTable:
    """The joint table of hospitals that each anonymize their own records under one policy.

    Parameters
    ----------
    frames
        The records of each hospital, as frames or paths.
    policy
        What each of them follows, with `publish: generalized`. Give numbers a hierarchy: without
        one, every hospital grows ranges of its own.
    accept_unprotected
        As for `incrowd.anonymize`, of each hospital's own table.

    Raises
    ------
    InputError
        The tables do not fit together, or one of them cannot be anonymized; the message tells
        which hospital, by its place among `frames`.
    PrivacyError
        A hospital alone cannot reach the privacy asked for, though all together might.

    Notes
    -----
    The hospitals' cuts differ, so the same value may stand under different labels: 34 as
    `[30-60)` from one and as `[30-45)` from another. Nothing is done about that here: the table is
    what an analyst receives, and what the paper measures. `with_common_labels` makes it comparable.

    DR, by `discernibility`, is the sum of squared sizes of the groups that show the same labels,
    over n squared. It flatters tables that were put together: where all cuts differ, the records of
    different hospitals count as told apart, though nothing is told of the patients, and DR is
    about that of one hospital divided by the number of hospitals. CE, by `classification`, comes
    from a tree that reads a range as its two bounds, which can be compared whatever the cut, and
    any other label as a value of its own, which cannot: what is learnt about Blue-collar says
    nothing of Janitor.

    Invariant: where every hospital's table bounds its crowds (LKC-privacy, k-anonymity, confidence
    bounding, (alpha,k)-anonymity), so does the joint one. The records that show some labels are
    a union over hospitals of the records that show them there. Each part is empty, or has K
    records and a share of each listed value of at most C; so the union has K records too, and its
    share, a mean of theirs by size, is at most C. The same holds for attackers who know raw values
    and look them up under every hospital's own labels, for those who know the hospital, and for
    a hospital that takes its own records out. Only such models stand among the promises of
    the joint table: t-closeness, for one, compares with a distribution that is each hospital's own.

    A listed sensitive value that a hospital lacks needs no bound there; one that no hospital has
    is refused, as for a single table. Cost: one run for each hospital, and one sort of all
    published rows.

    References
    ----------
    Mohammed, Fung, Hung and Lee (2010), Centralized and distributed anonymization for
    high-dimensional healthcare data, sections 1.2 (Table III) and 6.1.2 (figure 8).

    Example
    -------
    >>> import polars
    >>> policy = {
    ...     "attributes": {"job": {"role": "quasi", "hierarchy": {"tree": {
    ...         "Blue-collar": ["Janitor", "Mover"], "White-collar": ["Lawyer", "Doctor"]}}}},
    ...     "privacy": [{"k-anonymity": {"k": 2}}],
    ...     "method": "top-down-specialization",
    ... }
    >>> north = polars.DataFrame({"job": ["Mover", "Mover", "Janitor", "Janitor"]})
    >>> south = polars.DataFrame({"job": ["Mover", "Janitor", "Lawyer", "Doctor"]})
    >>> generalize_then_integrate([north, south], policy).data["job"].unique().sort().to_list()
    ['Blue-collar', 'Janitor', 'Mover', 'White-collar']
    """
    asked = as_policy(policy)
    if asked.publish != "generalized":
        raise PolicyError(
            f"publish: {asked.publish} numbers its groups, and two hospitals would give the same "
            "numbers to different groups. Say `publish: generalized`."
        )
    if isinstance(frames, (str, Path)) or not len(frames):
        raise ParameterError("frames: must be a list with the table of at least one hospital.")
    tables, releases = [], []
    for place, frame in enumerate(frames, start=1):
        with _naming(place):
            tables.append(read(frame, **asked.text_options))
    held = _sensitive_values(tables, asked)
    for place, (table, values) in enumerate(zip(tables, held, strict=True), start=1):
        own = [_model_for(model, values) for model in asked.privacy]
        # The table is read: what a text file needs for that is for text files only.
        with _naming(place):
            asked_here = asked.without_reading().model_copy(update={"privacy": own})
            made = anonymize(table, asked_here, accept_unprotected=accept_unprotected)
            releases.append(made)
    manifests = [release.manifest for release in releases]
    attributes = _joint_attributes(manifests)
    names = [str(entry["name"]) for entry in attributes]
    parts = tuple(release.data.select(names) for release in releases)
    manifest = {
        "publish": asked.publish,
        "records": {key: sum(each["records"][key] for each in manifests) for key in _COUNTS},
        "attributes": attributes,
        "promises": [model.promise() for model in asked.privacy if model.bounds is not None],
        "method": asked.method.as_dict(),
        "goal": asked.goal,
    }
    return IntegratedTable(one_table(parts), manifest, parts)


def one_table(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The records of all hospitals, sorted by what they show, so that their order tells nothing."""
    together = pl.concat(parts)
    return together.sort(together.columns)


@contextmanager
def _naming(place: int) -> Iterator[None]:
    """Errors of the block are told with the place of the hospital."""
    try:
        yield
    except IncrowdError as error:
        raise type(error)(f"Hospital {place}: {error}") from None


def _sensitive_values(tables: Sequence[pl.DataFrame], policy: Policy) -> list[dict[str, set[str]]]:
    """At each hospital, the keys of the values of attributes of which a model lists some.

    Refuses a listed value that none of them has.
    """
    held: list[dict[str, set[str]]] = [{} for _ in tables]
    for model in policy.privacy:
        if not model.listed_values:
            continue
        for name in model.sensitive_attributes:
            about = policy.attributes[name]
            for place, (table, values) in enumerate(zip(tables, held, strict=True), start=1):
                if name not in table.columns:
                    raise PolicyError(
                        f"Hospital {place}: No column '{name}' in its table."
                        f"{nearest(name, table.columns)}"
                    )
                with _naming(place):
                    column = code_column(
                        table[name],
                        role="sensitive",
                        kind=about.type,
                        order=about.order,
                        date_format=about.format,
                    )
                values[name] = set(map(folded, column.values))
            known = set[str]().union(*(values[name] for values in held))
            absent = [value for value in model.listed_values if folded(value) not in known]
            if absent:
                raise ParameterError(
                    f"{model.name}: {len(absent)} of the values listed for '{name}' occur at no "
                    f"hospital: {listed(absent)}."
                )
    return held


def _model_for(model: PrivacyModel, held: Mapping[str, set[str]]) -> PrivacyModel:
    """The model with those listed values that a hospital has; without any, it bounds no share.

    Invariant: a value that does not occur has a share of 0 in every crowd. Models of other kinds
    stay as they are, and are refused where a value is absent.
    """
    if not isinstance(model, BoundedShares) or not model.values:
        return model
    keys = set[str]().union(*(held[name] for name in model.sensitive_attributes))
    known = [value for value in model.values if folded(value) in keys]
    return model.model_copy(
        update={"values": known} if known else {"values": None, model.share: 1.0}
    )


def _joint_attributes(manifests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The published attributes as metrics read them: names, roles, types and meanings of labels."""
    entries = [
        {str(each["name"]): each for each in manifest["attributes"] if each["published"]}
        for manifest in manifests
    ]
    joint = []
    for place, own in enumerate(entries[1:], start=2):
        differing = sorted(set(own) ^ set(entries[0]))
        if differing:
            raise InputError(
                f"Hospital {place} publishes other columns than hospital 1: {listed(differing)}. "
                "Give both the same columns, or name their roles in the policy."
            )
    for name, first in entries[0].items():
        all_of_it = [own[name] for own in entries]
        kinds = list(dict.fromkeys(str(entry["type"]) for entry in all_of_it))
        if len(kinds) > 1:
            raise InputError(
                f"Column '{name}' looks {' to one hospital and '.join(kinds)} to another. Give it "
                "`type:` in the policy."
            )
        entry = {key: first[key] for key in ("name", "role", "published", "type")}
        if first["role"] == "quasi":
            entry["decimals"] = max(int(each["decimals"]) for each in all_of_it)
            weights = {k: w for each in all_of_it for k, w in each.get("weights", {}).items()}
            if weights:
                entry["weights"] = dict(sorted(weights.items()))
        joint.append(entry)
    return joint


def with_common_labels(
    integrated: IntegratedTable,
    frames: Sequence[Any],
    policy: Policy | Mapping[str, Any] | str | Path,
) -> IntegratedTable:
    """The same records with one label for each value, whichever hospital they are from.

    Parameters
    ----------
    integrated
        What `generalize_then_integrate` made of `frames` under `policy`.
    frames, policy
        Where the hierarchies are from: an analyst who has these needs no records.

    Raises
    ------
    InputError
        Labels are not nodes of a hierarchy: numbers without one have ranges that overlap, and
        some methods show sets.

    Notes
    -----
    A label becomes the highest label above it that some hospital shows: if one shows Janitor and
    another Blue-collar, both show Blue-collar. So values can be compared and counted over all
    hospitals, at the price that the coarsest cut wins everywhere. Labels of a value lie on one path
    to the root, so the highest is well defined, and no finer labels would be the same for all.

    Invariant: for every attribute the new label follows from the old one. Crowds are joined, never
    parted, so what held of all crowds (see `generalize_then_integrate`) still holds. Cost: one pass
    over the different values of every attribute, and one sort of the records.

    Example
    -------
    >>> import polars
    >>> policy = {
    ...     "attributes": {"job": {"role": "quasi", "hierarchy": {"tree": {
    ...         "Blue-collar": ["Janitor", "Mover"], "White-collar": ["Lawyer", "Doctor"]}}}},
    ...     "privacy": [{"k-anonymity": {"k": 2}}],
    ...     "method": "top-down-specialization",
    ... }
    >>> north = polars.DataFrame({"job": ["Mover", "Mover", "Janitor", "Janitor"]})
    >>> south = polars.DataFrame({"job": ["Mover", "Janitor", "Lawyer", "Doctor"]})
    >>> apart = generalize_then_integrate([north, south], policy)
    >>> with_common_labels(apart, [north, south], policy).data["job"].unique().sort().to_list()
    ['Blue-collar', 'White-collar']
    """
    # Each hospital looked at its own identifiers; two may number their patients alike.
    asked = as_policy(policy).model_copy(update={"unit": ROW})
    prepared = prepare((read(frame, **asked.text_options) for frame in frames), asked)
    new = {}
    for name in integrated.quasi:
        column, hierarchy = prepared.table[name], prepared.hierarchies[name]
        if shown_labels(column, hierarchy, asked.method.label_mode) != "hierarchy":
            raise InputError(
                f"The labels of '{name}' are not those of a hierarchy, so hospitals share none. "
                "Give it a `hierarchy:` in the policy, and take a method that shows its labels."
            )
        new[name] = common_labels(column, hierarchy, integrated.data[name])
    parts = tuple(
        part.with_columns(
            pl.col(name).replace_strict(list(labels), list(labels.values()), return_dtype=pl.String)
            for name, labels in new.items()
        )
        for part in integrated.parts
    )
    return replace(integrated, data=one_table(parts), parts=parts)


def common_labels(column: Column, hierarchy: Hierarchy, shown: pl.Series) -> LabelMap:
    """For every label in `shown`, the highest of them that lies on its path to the root."""
    present = set(shown.unique().to_list())
    highest: LabelMap = {}
    for code in range(column.cardinality):
        missing = code == column.missing_code
        first = None if missing else plain_label(column.values[code])
        above = hierarchy.ancestors(code)
        if missing:  # it has no label of its own below the root
            above = above[-1:]
        held = [label for label in (first, *above) if label in present]
        highest.update(dict.fromkeys(held, held[-1] if held else None))
    strange = present - set(highest)
    if strange:
        raise InputError(
            f"{len(strange)} label(s) of '{shown.name}' are not in its hierarchy. The table was "
            "made under another policy, or from other records."
        )
    return highest
