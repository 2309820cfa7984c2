"""The bundled data sets by name: their rows, policy, hierarchies and description."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from incrowd.datasets import (
    _adult,
    _adult_health,
    blood_transfusions,
    cancer_registry,
    death_certificates,
    patient_histories,
)
from incrowd.datasets.resources import list_names, read_bytes, read_text
from incrowd.errors import InputError, OutputError, ParameterError, nearest

if TYPE_CHECKING:
    import os

    import polars as pl

    from incrowd.datasets.info import DatasetInfo


class _Dataset(Protocol):
    """What the module of a data set offers."""

    INFO: DatasetInfo

    def read(self, rows: int | None, seed: int, /) -> pl.DataFrame:
        """Return the first `rows` rows, or as many as is usual."""


_MODULES: tuple[_Dataset, ...] = (
    _adult,
    _adult_health,
    blood_transfusions,
    cancer_registry,
    death_certificates,
)
_DATASETS = {each.INFO.name: each for each in _MODULES}


_LINKED = {patient_histories.INFO.name: patient_histories.INFO}
"""Data sets of several tables, which `load` does not give."""


def names() -> list[str]:
    """Return the names of the bundled data sets, sorted; `describe` tells which have tables."""
    return sorted({*_DATASETS, *_LINKED})


def describe(name: str) -> DatasetInfo:
    """Return title, size, licence, attribution and columns of a data set."""
    if name not in names():
        raise InputError(
            f"No data set '{name}'.{nearest(name, names())} There are: {', '.join(names())}."
        )
    return _LINKED[name] if name in _LINKED else _DATASETS[name].INFO


def load(name: str, rows: int | None = None, seed: int = 0) -> pl.DataFrame:
    """Return a bundled data set as a frame.

    Parameters
    ----------
    name
        One of `names()`, but for those of several tables.
    rows
        How many rows: the first ones of `adult` and `adult-health`, at most all of them; any number
        of a generated data set. All rows of the former, 10,000 `blood-transfusions`, 72,194
        patients of `cancer-registry` and 216,000 `death-certificates` when left out.
    seed
        Another seed gives other patients of a generated data set, and other health conditions to
        the people of `adult-health`. `adult` has no use for it.

    Examples
    --------
    >>> load("cancer-registry", rows=10).shape
    (10, 13)
    """
    if name in _LINKED:
        raise InputError(
            f"The data set '{name}' has several tables: take load_histories(patients), or "
            "write_histories(folder, patients)."
        )
    dataset = _DATASETS[describe(name).name]
    if rows is not None and not (_is_whole(rows) and rows >= 1):
        raise ParameterError(f"rows must be a whole number of at least 1, got {rows!r}.")
    if not (_is_whole(seed) and seed >= 0):
        raise ParameterError(f"seed must be a whole number of at least 0, got {seed!r}.")
    most = dataset.INFO.rows
    if rows is not None and rows > most and not dataset.INFO.generated:
        raise InputError(
            f"The data set '{name}' has {most:,} rows, {rows:,} were asked for. Ask for at most "
            f"{most:,}, or take a generated data set: blood-transfusions or cancer-registry."
        )
    return dataset.read(rows, seed)


def policy(name: str) -> str:
    """Return the text of the example policy of a data set (YAML)."""
    if name in _LINKED:
        raise InputError(f"The data set '{name}' comes without a policy.")
    return read_text(f"policies/{describe(name).name}.yaml")


def export_hierarchies(name: str, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the hierarchies of a data set where its policy looks for them; return their paths.

    `folder` is where the policy and the data lie; the files go to `<name>-hierarchies/` in it,
    which is made where needed. A file that is there already and differs is never overwritten:
    then nothing is written at all.
    """
    if name in _LINKED:
        raise InputError(f"The data set '{name}' comes without hierarchies.")
    source = f"hierarchies/{describe(name).name}"
    target = Path(folder) / f"{name}-hierarchies"
    contents = {target / each: read_bytes(f"{source}/{each}") for each in list_names(source)}
    try:
        for path, content in contents.items():
            if path.exists() and path.read_bytes() != content:
                raise OutputError(
                    f"{path} exists and is not the hierarchy that would be written. "
                    "Move or rename it, or choose another folder."
                )
        target.mkdir(parents=True, exist_ok=True)
        for path, content in contents.items():
            path.write_bytes(content)
    except OSError as error:
        raise OutputError(
            f"Cannot write the hierarchies to {target}: {error.strerror}. Choose another folder."
        ) from error
    return list(contents)


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)
