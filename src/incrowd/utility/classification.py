"""Classification: how well a decision tree learns the class from a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from incrowd._runtime.arrays import IntArray
from incrowd._runtime.progress import Progress, silent
from incrowd._runtime.sentences import listed
from incrowd.errors import InputError, ParameterError, nearest
from incrowd.published.opened import ReleaseLike
from incrowd.sources import SourceLike, describe
from incrowd.utility._decision_tree import train_tree
from incrowd.utility.comparison import refuse_other_table
from incrowd.utility.features import ReadColumn, kind_of, matrices, read_attribute, require_trees
from incrowd.utility.published import Published, coded_cells, open_published

_FEWEST_OF_CLASS = 3
_LARGEST_SEED = 2**32 - 1
_FEATURES = ("quasi", "sensitive", "target", "keep")


@dataclass(frozen=True)
class Error:
    """The share of the test records that were classified wrongly, over the random splits."""

    mean: float
    deviation: float
    """The standard deviation, 0 for a single split."""


@dataclass(frozen=True)
class Classification:
    """How well the class is learnt from a release; see `classification`."""

    target: str
    classes: int
    records: int
    """The records of the release that were used: those with a class, a sample of very many."""
    repeats: int
    seed: int
    majority: float
    """The error of always guessing the most frequent class."""
    ce: Error
    """The error on the published records."""
    ue: Error
    """The error on the published records without their quasi-identifiers."""
    be: Error | None = None
    """The error on the original records, None without them."""
    original_records: int | None = None

    @property
    def cost(self) -> float | None:
        """What privacy costs: CE - BE, None without the original."""
        return None if self.be is None else self.ce.mean - self.be.mean

    @property
    def benefit(self) -> float:
        """What the generalized quasi-identifiers are worth: UE - CE."""
        return self.ue.mean - self.ce.mean

    def as_dict(self) -> dict[str, Any]:
        """The errors for JSON."""
        return {**asdict(self), "cost": self.cost, "benefit": self.benefit}


@dataclass(frozen=True)
class _Labelled:
    """Records with their classes, ready to be split."""

    classes: IntArray
    attributes: tuple[ReadColumn, ...]


def classification(
    release: ReleaseLike | str | Path | Published,
    original: SourceLike = None,
    *,
    target: str | None = None,
    repeats: int = 5,
    seed: int = 0,
    sample: int | None = 100_000,
    progress: Progress = silent,
) -> Classification:
    """The errors of a decision tree that learns the class from a release: CE, UE and BE.

    Parameters
    ----------
    release
        A release, or the folder of one, with an attribute of role target.
    original
        The table it was made from, as a path or frame: then also the baseline error BE.
    target
        The attribute to predict, where several have that role or none.
    repeats, seed
        How many random splits, and what they are drawn by.
    sample
        The most records that are used, drawn by the seed; None uses all.
    progress
        Told the stage, how many trees are done, and of how many.

    Notes
    -----
    Trains on 2/3 of the records and tests on the other 1/3, each class split alike. The features
    are all published attributes but the class: an analyst has them all. BE is measured on every
    record of the original, suppressed ones included, with the same attributes; UE without the
    quasi-identifiers. Everything that is fitted, the pruning of the tree included, is fitted on
    the training part; records without a class are left out.

    Cost: four trees are grown for each error and repeat. Adult (45,222 records, 14 attributes,
    five repeats, BE, CE and UE) takes about 9 s. Memory: 4 bytes for each record and feature,
    of which there are at most about 1,000, and twice that while a tree is grown.

    References
    ----------
    Mohammed, Fung, Hung and Lee (2010), Centralized and distributed anonymization for
    high-dimensional healthcare data, section 6.1. Differs from the paper: C4.5 is replaced by
    `train_tree`; the mean of several splits instead of one.

    Example
    -------
    >>> import polars
    >>> from types import SimpleNamespace
    >>> release = SimpleNamespace(
    ...     data=polars.DataFrame({"age": ["[0-50)", "[50-99)"] * 30, "ill": ["n", "y"] * 30}),
    ...     manifest={
    ...         "records": {"source": 60, "published": 60, "suppressed": 0, "missing_dropped": 0},
    ...         "attributes": [
    ...             {"name": "age", "role": "quasi", "published": True, "type": "numeric"},
    ...             {"name": "ill", "role": "target", "published": True, "type": "category"},
    ...         ],
    ...     },
    ... )
    >>> found = classification(release)
    >>> found.ce.mean, found.ue.mean, found.benefit
    (0.0, 0.5, 0.5)
    """
    _refuse_illegal(repeats, seed, sample)
    require_trees("Evaluation for classification needs")
    published = open_published(release)
    target = _target(published, target)
    names = [
        name
        for name in published.of_role(*_FEATURES)
        if name != target
        and name in published.frame.columns
        and "time" not in published.entries[name]  # dates that the original has otherwise
    ]
    kinds = {name: kind_of(published.frame[name], published.entries[name]) for name in names}
    ours = _drawn(published.frame, target, sample, seed, "The release")
    entries = {name: published.entries[name] for name in published.quasi}
    shown = _labelled(
        ours, target, [read_attribute(ours[name], kinds[name], entries.get(name)) for name in names]
    )
    raw = None
    if original is not None:
        theirs = _original(published, original, [*names, target])
        theirs = _drawn(theirs, target, sample, seed, "The original")
        raw = _labelled(
            theirs, target, [read_attribute(theirs[name], kinds[name], None) for name in names]
        )
    rest = [each for each in shown.attributes if each.name not in entries]
    jobs = [shown, _Labelled(shown.classes, tuple(rest)), *([raw] if raw is not None else [])]
    errors = []
    for number, job in enumerate(jobs):
        wrong = []
        for repeat in range(repeats):
            progress("classifying", number * repeats + repeat, len(jobs) * repeats)
            wrong.append(_error(job, seed, repeat))
        errors.append(_summary(wrong))
    sizes = np.bincount(shown.classes)
    return Classification(
        target=target,
        classes=len(sizes),
        records=len(shown.classes),
        repeats=repeats,
        seed=seed,
        majority=float((sizes.sum() - sizes.max()) / sizes.sum()),
        ce=errors[0],
        ue=errors[1],
        be=errors[2] if raw is not None else None,
        original_records=None if raw is None else len(raw.classes),
    )


def _refuse_illegal(repeats: int, seed: int, sample: int | None) -> None:
    if repeats < 1:
        raise ParameterError(f"repeats must be a whole number of at least 1, got {repeats}.")
    if sample is not None and sample < 1:
        raise ParameterError(f"sample must be a whole number of at least 1, got {sample}.")
    if not 0 <= seed <= _LARGEST_SEED:
        raise ParameterError(f"seed must be a whole number from 0 to {_LARGEST_SEED}, got {seed}.")


def split(classes: IntArray, seed: int, repeat: int) -> tuple[IntArray, IntArray]:
    """The training records and the test records, a third of each class, both in random order."""
    shuffled = np.random.default_rng([seed, repeat]).permutation(len(classes))
    by_class = shuffled[np.argsort(classes[shuffled], kind="stable")]
    sizes = np.bincount(classes)
    place = np.arange(len(classes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    tested = place < np.repeat(np.rint(sizes / 3), sizes)
    return by_class[~tested], by_class[tested]


def _error(job: _Labelled, seed: int, repeat: int) -> float:
    train, test = split(job.classes, seed, repeat)
    known, unknown = matrices(job.attributes, train, test)
    tree = train_tree(known, job.classes[train], seed=seed)
    return float((tree.predict(unknown) != job.classes[test]).mean())


def _summary(wrong: Sequence[float]) -> Error:
    deviation = float(np.std(wrong, ddof=1)) if len(wrong) > 1 else 0.0
    return Error(float(np.mean(wrong)), deviation)


def _target(published: Published, asked: str | None) -> str:
    """The attribute to predict: the one asked for, or the only one of that role."""
    able = published.of_role("target", "sensitive", "keep")
    if asked is not None:
        if asked in published.quasi:
            raise InputError(
                f"'{asked}' is a quasi-identifier, so its published classes are generalized. "
                "Predict an attribute of role target, sensitive or keep."
            )
        if asked not in able:
            raise InputError(f"The release publishes no '{asked}'.{nearest(asked, able)}")
        if asked not in published.frame.columns:
            raise InputError(
                f"'{asked}' is published apart from the records, so nothing can learn to predict "
                "it from them. Publish the release generalized, or predict another attribute."
            )
        return asked
    found = published.of_role("target")
    if not found:
        raise InputError(
            "The release has no class to predict. Give the attribute `role: target` in the policy "
            "and make the release again, or name a published one (target= in Python, --target on "
            "the command line)."
        )
    if len(found) > 1:
        raise InputError(
            f"The release has several targets: {listed(found)}. Choose one (target= in Python, "
            "--target on the command line)."
        )
    return found[0]


def _original(published: Published, original: SourceLike, columns: list[str]) -> pl.DataFrame:
    from incrowd.utility.original import read_original

    frame = read_original(original, columns, published)
    refuse_other_table(published, frame, describe(original))
    return frame


def _drawn(
    frame: pl.DataFrame, target: str, sample: int | None, seed: int, name: str
) -> pl.DataFrame:
    """The records that have a class, at most as many as asked for."""
    column = coded_cells(frame[target])
    rows = np.flatnonzero(column.codes < len(column.values))
    if sample is not None and len(rows) > sample:
        rows = np.sort(np.random.default_rng(seed).choice(rows, sample, replace=False))
    sizes = np.bincount(column.codes[rows], minlength=len(column.values))
    if np.count_nonzero(sizes) < 2:
        raise InputError(
            f"{name} has only {np.count_nonzero(sizes)} class(es) in '{target}', so there is "
            "nothing to predict. Choose a target with at least two."
        )
    rare = int(np.count_nonzero(sizes < _FEWEST_OF_CLASS))
    if rare:
        raise InputError(
            f"{name} has {rare} class(es) in '{target}' with fewer than {_FEWEST_OF_CLASS} of the "
            f"{len(rows):,} records used, too rare to train and to test on. Join rare classes in "
            "the source, or choose another target."
        )
    return frame[rows]


def _labelled(frame: pl.DataFrame, target: str, attributes: list[ReadColumn]) -> _Labelled:
    return _Labelled(coded_cells(frame[target]).codes.astype(np.int64), tuple(attributes))
