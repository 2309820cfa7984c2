"""A starting policy: YAML that a person reads and corrects, with a reason beside every role."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from incrowd.errors import InputError, ParameterError
from incrowd.methods.registry import DEFAULT_METHOD
from incrowd.privacy import ConfidenceBounding, KAnonymity, LDiversity
from incrowd.profiling.profiles import ColumnProfile, Profile
from incrowd.sources import Source, as_source

FEWEST_RECORDS = 4
"""Fewer records cannot be put into two groups of two."""

WIDTH = 100
_COMMENT_AT = 44  # comments begin here at the latest
_LONGEST_KEY = 1_000  # YAML wants longer keys written with a question mark
_PLAIN = re.compile(r"[^\W\d_](?:[\w.\-/ ]*\w)?")
_RESERVED = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"}
_FEWEST_VALUES = 3  # for l-diversity to mean something
_MOST_SKEWED = 0.8
_WORST_RANK = 3  # sensitive attributes up to here are about health


def starting_policy(
    profile: Profile,
    *,
    source_name: str | None,
    policy_name: str = "policy.yaml",
    k: int = 5,
    l: int | None = 2,  # noqa: E741 - the name of the model's parameter
) -> str:
    """Return a policy for the profiled file as YAML text, with a reason beside every role.

    Parameters
    ----------
    profile
        What `profile` found.
    source_name
        The source as the policy names it, relative to where the policy will lie; None for a
        policy without a source.
    policy_name
        The file that the text will be written to, for the command that it recommends.
    k
        The smallest group; lowered to half the records of a small file.
    l
        Distinct l-diversity for the most sensitive attribute with at least three values, and
        commented out for the others; None for k-anonymity alone.

    Raises
    ------
    InputError
        The file has fewer than four records.
    """
    refuse_few(profile, k, l)
    source = None if source_name is None else as_source(source_name)
    lowered, one = max(2, min(k, profile.how_many // 2)), profile.counted
    blocks = [
        *_header(profile, source, policy_name),
        *_source_lines(profile, source),
        *_unit_lines(profile),
        "attributes:",
        *attribute_lines(profile.columns),
        *(
            ["other: drop                         # columns that were not profiled"]
            * profile.chosen
        ),
        "privacy:",
        *privacy_lines(profile, lowered, l, asked=k, one=one),
        f"method: {{name: {DEFAULT_METHOD}, split: loss, labels: set}}",
        f"suppression: 0.02                   # at most this share of the {one}s may be dropped",
        f"output: {scalar(_output_name(source))}",
    ]
    return "\n".join(blocks) + "\n"


def scalar(text: str) -> str:
    """Return a text as a YAML scalar that every YAML reader takes for that text."""
    if _PLAIN.fullmatch(text) and text.casefold() not in _RESERVED:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable() and character != "\ufeff":
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def refuse_few(profile: Profile, k: int, l: int | None) -> None:  # noqa: E741
    """Refuse a file of too few records, and promises that say nothing."""
    if profile.how_many < FEWEST_RECORDS:
        many = f"{profile.how_many:,} {profile.counted}{'s' * (profile.how_many != 1)}"
        raise InputError(
            f"{profile.source} has {many}; at least {FEWEST_RECORDS} are needed to hide one among "
            f"others. Add {profile.counted}s, or do not publish it."
        )
    if k < 2:
        raise ParameterError(f"k must be a whole number of at least 2, got {k}.")
    if l is not None and l < 2:
        raise ParameterError(f"l must be a whole number of at least 2, or none, got {l}.")


def _header(profile: Profile, source: Source | None, policy_name: str) -> Iterator[str]:
    # The name of a database may hold a password, which a comment need not repeat.
    named = source.named(scalar) if source is not None and source.by_path else profile.source
    of_patients = "" if profile.patients is None else f" of {profile.patients:,} patients"
    begin = f"A starting policy for {named}: {profile.records:,} records{of_patients}, "
    yield from header_lines(
        profile,
        f"{begin}{len(profile.columns):,} columns.",
        "Check `unit` too: it tells whose the rows are. Patients are counted, or rows.",
        policy_name,
    )


def header_lines(profile: Profile, begin: str, check: str, policy_name: str) -> Iterator[str]:
    """The comment at the top of a starting policy.

    Parameters
    ----------
    profile
        What was found.
    begin
        What the policy is for.
    check
        What a person should check beside roles and hierarchies.
    policy_name
        The file that the text will be written to.
    """
    lines = [
        begin,
        "",
        "Every role is a guess. Check the roles before anything else, then the hierarchies:",
        "  identifier   points to a person: never published",
        "  quasi        others may know it of a person: generalized until everyone has a crowd",
        "  sensitive    nobody should learn it of a person: published as it is, see privacy",
        "  target       what analysts will predict: published as it is",
        "  keep         published as it is, protected by nothing",
        "When in doubt, choose quasi, or identifier for what nobody needs.",
        check,
        "",
        f"Then run: incrowd anonymize {policy_name}",
    ]
    names = ", ".join(scalar(each.column) for each in profile.unchanged)
    if names:
        told = f"Published as they are, unless you change their roles: {names}."
    else:
        told = "No column would be published as it is."
    lines += ["", *textwrap.wrap(told, WIDTH - 2)]
    for warning in profile.warnings:
        lines += ["", *textwrap.wrap(f"Check: {warning}", WIDTH - 2)]
    yield from (f"# {one_line(line)}".rstrip() for line in lines)


def one_line(text: str) -> str:
    """A text that cannot break out of a comment."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _source_lines(profile: Profile, source: Source | None) -> Iterator[str]:
    if source is not None:
        named = source.in_policy()
        if source.remark is not None:
            yield f"# {source.remark}"
        if named is None:
            yield "# A policy opens no address on a network: give it with --source."
        else:
            yield f"source: {scalar(named)}"
        for option, value in profile.reading.items():
            written = str(value).lower() if isinstance(value, bool) else scalar(value)
            yield f"{option}: {written}"


def attribute_lines(columns: Sequence[ColumnProfile]) -> Iterator[str]:
    """The lines of attributes, with the reason beside every role."""
    entries = [(_code_lines(column), column) for column in columns]
    longest = max(len(line) for code, _ in entries for line in code[:2])
    indent = min(longest + 2, _COMMENT_AT)
    for code, column in entries:
        remarks = [column.reason, *(f"Check: {warning}" for warning in column.warnings)]
        comments = [
            line for remark in remarks for line in textwrap.wrap(remark, WIDTH - indent - 2)
        ]
        yield from _beside(code, comments, indent)


def _unit_lines(profile: Profile) -> Iterator[str]:
    """What a row is, with the question to the person who knows."""
    for line in textwrap.wrap(profile.unit.reason, WIDTH - 2):
        yield f"# {one_line(line)}"
    yield f"unit: {scalar(profile.unit.unit)}"


def _beside(code: Sequence[str], comments: list[str], indent: int) -> Iterator[str]:
    """Yield lines of code with the comments to their right, below where a line is too long."""
    waiting = list(comments)
    for line in code:
        if waiting and len(line) + 2 <= indent:
            yield f"{line:<{indent}}# {waiting.pop(0)}"
        else:
            yield line
    for comment in waiting:
        yield f"{'':<{indent}}# {comment}"


def _code_lines(column: ColumnProfile) -> list[str]:
    name = scalar(column.name)
    long = len(name) > _LONGEST_KEY
    key = [f"  ? {name}", "  :"] if long else [f"  {name}:"]
    details = []
    if column.type is not None:
        details.append(f"    type: {column.type}")
    if column.format is not None and column.type == "date":
        details.append(f"    format: {scalar(column.format)}")
    if column.level == "event":
        details.append("    level: event")
    if column.take is not None:
        details.append(f"    take: {column.take}")
    if column.hierarchy is not None:
        details.append(f"    hierarchy: {_flow(column.hierarchy)}")
    if details:
        return [*key, f"    role: {column.role}", *details]
    return [*key[:-1], f"{key[-1]} {column.role}"]


def _flow(value: Any) -> str:
    """A hierarchy in one line, as people write it."""
    if value == {"auto": True}:
        return "auto"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return str(value)


def privacy_lines(
    profile: Profile,
    k: int,
    l: int | None,  # noqa: E741
    asked: int,
    one: str = "record",
) -> Iterator[str]:
    """The lines of promises, and of those that a person may want; `one` is what is counted."""
    why = f"every {one} looks like at least {k - 1} other{'s' if k > 2 else ''}"
    if k < asked:
        why += f" (lowered from {asked}: few {one}s)"
    yield f"  - {KAnonymity.name}: {{k: {k}}}             # {why}"
    if l is None:
        return
    of_events = [each for each in profile.of_role("sensitive") if each.level == "event"]
    for column in of_events:
        name = scalar(column.name)
        yield f"  # - {ConfidenceBounding.name}: {{C: 0.5, sensitive: {name}, values: [...]}}"
    if of_events:
        yield "  # List the values to protect: a patient has several, and each is judged by itself."
    sensitive = [each for each in profile.of_role("sensitive") if each.level != "event"]
    diverse = [column for column in sensitive if column.distinct >= max(_FEWEST_VALUES, l)]
    diverse.sort(key=lambda column: (column.rank, column.kind != "category"))
    active = [column for column in diverse if _worth_it(column)][:1]
    for column in [*active, *(column for column in diverse if column not in active)]:
        entry = f"- {LDiversity.name}: {{l: {l}, kind: distinct, sensitive: {scalar(column.name)}}}"
        yield f"  {entry}" if column in active else f"  # {entry}"
    if len(diverse) > len(active):
        yield f"  # Take a # away where every group must hold {l} different values too."
    for column in sensitive:
        if column not in diverse:
            yield f"  # {scalar(column.name)} has too few values to vary in every group."


def _worth_it(column: ColumnProfile) -> bool:
    """Whether l-diversity is asked for at once: not of what nearly all have alike."""
    return column.rank <= _WORST_RANK or column.top_share <= _MOST_SKEWED


def _output_name(source: Source | None) -> str:
    if source is None or not source.by_path:
        return "release"
    stem = source.label.split(".")[0]
    stem = re.sub(r"[^\w\-]+", "-", stem).strip("-")[:100]
    return f"{stem}-release" if stem else "release"
