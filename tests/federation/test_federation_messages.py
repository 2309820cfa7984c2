"""Messages: what is signed comes out as it went in, and nothing else is taken."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.federation.membership.identities import Identity
from incrowd.federation.transport.messages import (
    FROM_LEADER,
    FROM_PARTIES,
    NO_SESSION,
    Message,
    MessageError,
    canonical,
    decode,
    encode,
    mark_of,
    parse,
)
from incrowd.federation.transport.terms import Terms, TimeLimits

IDENTITY, OTHER = Identity.make(), Identity.make()
PINNED = {"A": IDENTITY.public, "B": OTHER.public}
ANSWER = Message(
    "answer", "ab" * 32, 3, "A", {"transcript": "00"}, {"counts": bytes(range(40)), "more": b""}
)
JSON: Any = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def sign(data: bytes) -> bytes:
    return IDENTITY.sign("test", data)


def check(sender: str, signature: bytes, data: bytes) -> bool:
    return sender in PINNED and PINNED[sender].verifies("test", data, signature)


def read(data: bytes, kinds: frozenset[str] = FROM_PARTIES, limit: int = 10_000) -> Message:
    return decode(data, check, kinds, limit)


@given(
    fields=st.dictionaries(st.text(max_size=8), JSON, max_size=4),
    parts=st.dictionaries(st.text(max_size=8), st.binary(max_size=64), max_size=4),
    number=st.integers(0, 2**63),
)
def test_a_message_comes_out_as_it_went_in(fields: Any, parts: Any, number: int) -> None:
    message = Message("hello", NO_SESSION, number, "A", fields, parts)
    assert decode(encode(message, sign), check, FROM_PARTIES, 1 << 20) == message


def test_every_single_changed_byte_is_noticed() -> None:
    data = encode(ANSWER, sign)
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1
        with pytest.raises(MessageError):
            read(bytes(changed))


def test_every_shorter_or_longer_message_is_refused() -> None:
    data = encode(ANSWER, sign)
    for size in range(len(data)):
        with pytest.raises(MessageError):
            read(data[:size])
    with pytest.raises(MessageError):
        read(data + b"\x00")


@given(st.binary(max_size=400))
def test_garbage_is_refused(data: bytes) -> None:
    with pytest.raises(MessageError):
        read(data)
    with pytest.raises(MessageError):
        read(b"INCROWD\x01" + data)


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"sender": "B"}, "not signed by 'B'"),
        ({"sender": "nobody"}, "not signed by 'nobody'"),
        ({"kind": "closed"}, "of kind 'closed'"),
        ({"round": -1}, "header is not legal"),
        ({"session": "ab"}, "header is not legal"),
    ],
)
def test_a_message_that_is_not_due_from_its_sender_is_refused(changes: Any, cause: str) -> None:
    from dataclasses import replace

    with pytest.raises(MessageError, match=cause) as caught:
        read(encode(replace(ANSWER, **changes), sign))
    assert caught.value.exit_code == 3


def test_sizes_are_bounded() -> None:
    data = encode(ANSWER, sign)
    assert read(data, limit=len(data)) == ANSWER
    with pytest.raises(MessageError, match="more than"):
        read(data, limit=len(data) - 1)
    with pytest.raises(MessageError, match="header of a message may have"):
        encode(Message("answer", NO_SESSION, 1, "A", {"much": "x" * 70_000}), sign)


def test_kinds_are_kept_apart_by_direction() -> None:
    with pytest.raises(MessageError, match="not sent here"):
        read(encode(ANSWER, sign), kinds=FROM_LEADER)


def test_json_has_one_spelling() -> None:
    assert parse(canonical({"b": [1, 2.5], "a": None})) == {"a": None, "b": [1, 2.5]}
    for spelling in (
        b'{"a": 1}',
        b'{"b":1,"a":2}',
        b'{"a":1,"a":1}',
        b"[1.0e0]",
        b"NaN",
        b"[" * 9**5,
    ):
        with pytest.raises(MessageError):
            parse(spelling)
    for value in (float("nan"), {1, 2}, b"bytes"):
        with pytest.raises(MessageError):
            canonical(value)


def test_the_same_message_has_the_same_mark_and_another_has_another() -> None:
    from dataclasses import replace

    again = encode(ANSWER, sign)
    assert mark_of(again) == mark_of(encode(ANSWER, sign))
    assert mark_of(again) != mark_of(encode(replace(ANSWER, round=4), sign))


def test_terms_name_the_first_difference() -> None:
    terms = Terms(consortium="aa", policy="bb", layout="cc")
    assert terms.difference(terms.as_dict()) is None
    for name in terms.as_dict():
        assert terms.difference({**terms.as_dict(), name: "other"}) is not None
        assert terms.difference({**terms.as_dict(), name: 7}) is not None
        assert terms.difference({}) is not None


def test_limits_are_checked() -> None:
    from incrowd.errors import ParameterError

    for wrong in ({"timeout": 0}, {"poll": -1.0}, {"size": 10}, {"joining": float("nan")}):
        with pytest.raises(ParameterError):
            TimeLimits(**wrong)
    assert TimeLimits(timeout=3.0).hold == 1.0
