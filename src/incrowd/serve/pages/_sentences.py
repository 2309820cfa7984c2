"""Plain sentences for privacy models: what an attacker still finds, with the numbers chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from incrowd.privacy import MODELS

Parameters = Mapping[str, Any]

COMMON = ("k-anonymity", "l-diversity", "lkc", "t-closeness")
"""The models that most releases need, offered first."""

TITLES = {
    "k-anonymity": "A crowd for every record (k-anonymity)",
    "l-diversity": "A variety of sensitive values (l-diversity)",
    "lkc": "Attackers who know a few facts (LKC-privacy)",
    "t-closeness": "Groups that look like the whole table (t-closeness)",
    "p-sensitive": "A crowd with different values (p-sensitive k-anonymity)",
    "alpha-k": "A crowd, and no value too frequent in it ((alpha, k)-anonymity)",
    "confidence-bounding": "A limit on how sure anyone can be (confidence bounding)",
    "multi-sensitive": "Several sensitive columns together (multi-sensitive diversity)",
    "exponential-l": "Several sensitive columns, each varied (exponential l-diversity)",
    "l-alpha-diversity": "Variety, weighed by how sensitive values are ((l, alpha)-diversity)",
    "delta-disclosure": "No value much more or less frequent (delta-disclosure privacy)",
    "beta-likeness": "No value much more frequent than in the table (beta-likeness)",
}
"""What each model is called on the page."""


_NAMED = 3
"""Listed values that a sentence still names."""


def offered() -> dict[str, str]:
    """Every privacy model of the package with its title, the common ones first."""
    order = [*COMMON, *(name for name in MODELS if name not in COMMON)]
    return {name: TITLES.get(name, name) for name in order}


def sentence(model: str, parameters: Parameters) -> str:
    """What a model promises with these parameters, in words for people who never read a paper.

    Parameters may still be incomplete while a person types: an ellipsis stands for what is missing.

    Example
    -------
    >>> sentence("lkc", {"L": 2, "K": 20, "C": 0.5, "sensitive": "diagnosis"})
    'An attacker who knows any two facts about a patient finds at least 20 records that fit, and \
is sure of the diagnosis in at most 50 of 100 cases.'
    """
    write = _SENTENCES.get(model)
    return MODELS[model].summary if write is None else write(parameters)


def sentences(privacy: Sequence[Mapping[str, Parameters]]) -> list[str]:
    """One sentence for each model of a policy's `privacy:` list."""
    return [sentence(name, entry) for each in privacy for name, entry in each.items()]


def counted(number: object, thing: str, things: str | None = None) -> str:
    """A number with its noun: `1 record`, `20 records`."""
    told = _number(number)
    return f"{told} {thing if told == '1' else things or thing + 's'}"


def _number(value: object) -> str:
    if value is None or value == "":
        return "…"
    if isinstance(value, float) and not value.is_integer():
        return f"{value:g}"
    return f"{int(value):,}" if isinstance(value, int | float) else str(value)


def _facts(number: object) -> str:
    words = {1: "one fact", 2: "any two facts", 3: "any three facts", 4: "any four facts"}
    return words.get(number, f"any {_number(number)} facts") if number else "any … facts"  # type: ignore[call-overload]


def _cases(share: object) -> str:
    """A share as cases of a hundred."""
    if not isinstance(share, int | float):
        return "… of 100 cases"
    return f"{100 * share:g} of 100 cases"


def _the(parameters: Parameters) -> str:
    """The sensitive attribute, or several."""
    named = parameters.get("sensitive")
    if isinstance(named, str) and named:
        return f"the {named}"
    if isinstance(named, Sequence) and not isinstance(named, str) and named:
        return "the " + (
            named[0] if len(named) == 1 else ", ".join(named[:-1]) + f" and {named[-1]}"
        )
    return "the sensitive column"


def _bare(parameters: Parameters) -> str:
    """The sensitive attributes without an article, as in `values of diagnosis`."""
    return _the(parameters).removeprefix("the ")


def _listed(parameters: Parameters) -> str:
    """Which values a share is about."""
    values = parameters.get("values")
    if not values:
        return _the(parameters)
    if len(values) > _NAMED:
        return f"one of {len(values):,} listed values of {_bare(parameters)}"
    named = " or ".join(map(str, values))
    return f"{_the(parameters)} {named}"


def _k_anonymity(p: Parameters) -> str:
    return (
        "An attacker who knows all quasi-identifiers of a patient finds at least "
        f"{counted(p.get('k'), 'record')} that fit, so pointing at the right one succeeds at most "
        f"once in {_number(p.get('k'))} tries."
    )


def _l_diversity(p: Parameters) -> str:
    l, what = _number(p.get("l")), _bare(p)  # noqa: E741 - the name of the model's parameter
    told = {
        "distinct": f"hold at least {l} different values of {what}",
        "entropy": f"vary in {what} as much as {l} equally frequent values would",
        "recursive": f"do not nearly all share one value of {what}: the most frequent one is held "
        f"by fewer than {_number(p.get('c'))} times as many records as the {l}th most frequent "
        "and all rarer ones together",
        "frequency": f"share no value of {what} more often than once in {l}",
    }[str(p.get("kind") or "distinct")]
    return f"An attacker who finds the records that look alike sees that they {told}."


def _lkc(p: Parameters) -> str:
    found = (
        f"An attacker who knows {_facts(p.get('L'))} about a patient finds at least "
        f"{counted(p.get('K'), 'record')} that fit"
    )
    share = p.get("C")
    if not p.get("sensitive") or share in (None, 1, 1.0):
        return f"{found}."
    return f"{found}, and is sure of {_listed(p)} in at most {_cases(share)}."


def _t_closeness(p: Parameters) -> str:
    near = {
        "equal": "all values count as equally far apart",
        "ordered": "neighbouring values count as near",
        "hierarchical": "values of one branch of the hierarchy count as near",
    }[str(p.get("distance") or "equal")]
    return (
        f"Among the records that look alike, {_the(p)} is spread nearly as in the whole table: "
        f"the two differ by at most {_number(p.get('t'))} (0 is not at all, 1 entirely; {near})."
    )


def _p_sensitive(p: Parameters) -> str:
    return (
        f"An attacker who knows all quasi-identifiers of a patient finds at least "
        f"{counted(p.get('k'), 'record')} that fit, with at least "
        f"{counted(p.get('p'), 'different value')} of {_bare(p)}."
    )


def _alpha_k(p: Parameters) -> str:
    return (
        f"An attacker who knows all quasi-identifiers of a patient finds at least "
        f"{counted(p.get('k'), 'record')} that fit, and is sure of {_listed(p)} in at most "
        f"{_cases(p.get('alpha'))}."
    )


def _confidence(p: Parameters) -> str:
    return (
        f"An attacker who finds the records that look alike is sure of {_listed(p)} in at most "
        f"{_cases(p.get('C'))}. How many look alike is not limited."
    )


def _multi_sensitive(p: Parameters) -> str:
    spare = p["l"] - 2 if isinstance(p.get("l"), int) else 0
    who = f"one who can rule out {counted(spare, 'value')} of {_bare(p)}" if spare > 0 else "nobody"
    knows = "cannot tell" if spare > 0 else "can tell"
    return (
        f"An attacker finds at least {counted(p.get('k'), 'record')} that fit, and {who} {knows} "
        f"from {_the(p)} which of two rows is the patient's."
    )


def _exponential_l(p: Parameters) -> str:
    return (
        f"An attacker who knows all but one of {_the(p)} of a patient still sees "
        f"{counted(p.get('l'), 'different value')} of the last one."
    )


def _l_alpha_diversity(p: Parameters) -> str:
    return (
        f"{_l_diversity({**p, 'kind': p.get('kind')}).removesuffix('.')}, and among them are "
        f"enough records with harmless values: they weigh at least {_number(p.get('alpha'))} "
        "together, where the most sensitive category weighs 0 and the least sensitive 1."
    )


def _delta_disclosure(p: Parameters) -> str:
    return (
        f"Among the records that look alike, every value of {_bare(p)} is nearly as frequent as in "
        f"the whole table (by a factor below e to the {_number(p.get('delta'))}), so an attacker "
        "neither believes much more in one nor can rule one out."
    )


def _beta_likeness(p: Parameters) -> str:
    tail = ", frequent values even less" if p.get("kind") == "enhanced" else ""
    return (
        f"Finding the records that look alike raises an attacker's belief in any value of "
        f"{_bare(p)} by at most {_number(p.get('beta'))} times what the whole table tells{tail}."
    )


_SENTENCES: dict[str, Callable[[Parameters], str]] = {
    "k-anonymity": _k_anonymity,
    "l-diversity": _l_diversity,
    "lkc": _lkc,
    "t-closeness": _t_closeness,
    "p-sensitive": _p_sensitive,
    "alpha-k": _alpha_k,
    "confidence-bounding": _confidence,
    "multi-sensitive": _multi_sensitive,
    "exponential-l": _exponential_l,
    "l-alpha-diversity": _l_alpha_diversity,
    "delta-disclosure": _delta_disclosure,
    "beta-likeness": _beta_likeness,
}
