"""Lists of names as sentences have them, and texts that must fit a place."""

from collections.abc import Iterable


def listed(
    names: Iterable[str],
    most: int | None = None,
    *,
    quoted: bool = True,
    between: str = ", ",
    last: str = " and ",
) -> str:
    """Names in a row, or the first of them and how many more there are.

    Example
    -------
    >>> listed(["age", "sex", "zip"])
    "'age', 'sex' and 'zip'"
    >>> listed(["age", "sex", "zip"], 1, quoted=False)
    'age and 2 more'
    """
    given = [f"'{name}'" if quoted else str(name) for name in names]
    if most is not None and len(given) > most:
        return f"{between.join(given[:most])} and {len(given) - most:,} more"
    return last.join([between.join(given[:-1]), given[-1]] if given[1:] else given)


def cut_short(text: str, longest: int) -> str:
    """A text that has no more characters than there is room for.

    Example
    -------
    >>> cut_short("Blue-collar", 5)
    'Blue…'
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
