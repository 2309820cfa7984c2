"""Agreements, identities and transcripts: who can be fooled, and by whom."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from session_parties import NUMBER, ROSTER, TRANSCRIPT, agree, make_session

from incrowd.errors import FederationError, InputError, OutputError, ParameterError
from incrowd.federation.membership.agreed_sessions import AgreedSession
from incrowd.federation.membership.identities import Identity, PublicIdentity
from incrowd.federation.protocols.key_agreement import Announcement, Ephemeral, check_announcements
from incrowd.federation.transport.transcripts import Transcript, digest_of, packed


@pytest.fixture(scope="module")
def identities() -> list[Identity]:
    return [Identity.make() for _ in range(3)]


def announced(
    identities: Sequence[Identity], **changes: Any
) -> tuple[AgreedSession, list[Ephemeral], list[Announcement]]:
    session = make_session(identities, **changes)
    made = [Ephemeral(session, place, each) for place, each in enumerate(identities)]
    return session, made, [each.announcement for each in made]


def test_each_pair_shares_one_secret_and_no_two_pairs_the_same() -> None:
    keys = agree(4)
    found = {}
    for first in range(4):
        for second in range(first + 1, 4):
            here = keys[first].derive(b"x", first, second, 1, TRANSCRIPT, 5)
            assert here == keys[second].derive(b"x", first, second, 1, TRANSCRIPT, 5)
            found[first, second] = here
    assert len(set(found.values())) == 6


def test_a_key_that_the_leader_substitutes_is_refused_by_name(identities: list[Identity]) -> None:
    """The leader (place 0) replaces the key of C by one whose private half it knows."""
    session, made, honest = announced(identities)
    leader, forged = identities[0], Ephemeral(session, 0, identities[0]).announcement
    for fake in (
        replace(honest[2], key=forged.key),  # the signature of C over another key
        Announcement(2, forged.key, forged.signature),  # signed by the leader, for the leader
        Announcement(2, forged.key, leader.sign("incrowd federation ephemeral key/1", forged.key)),
        replace(honest[2], signature=bytes(64)),
        replace(honest[2], party=1),
    ):
        with pytest.raises(FederationError, match="'Hospital C' is not signed by 'Hospital C'"):
            Ephemeral(session, 1, identities[1]).agree([honest[0], honest[1], fake])
    made[1].agree(honest)


@pytest.mark.parametrize("changes", [{"number": b"m" * 32}, {"roster": b"q" * 32}])
def test_a_key_of_another_session_or_roster_is_refused(
    identities: list[Identity], changes: dict[str, bytes]
) -> None:
    _, _, old = announced(identities, **changes)
    session, made, honest = announced(identities)
    with pytest.raises(FederationError, match="'Hospital B' is not signed"):
        made[0].agree([honest[0], old[1], honest[2]])
    check_announcements(session, honest)


def test_a_party_notices_that_its_own_key_was_replaced_by_an_old_one(
    identities: list[Identity],
) -> None:
    _, _, earlier = announced(identities)
    _, made, honest = announced(identities)
    with pytest.raises(FederationError, match="Another key than its own was announced for"):
        made[0].agree([earlier[0], honest[1], honest[2]])


def test_parties_that_were_shown_different_keys_share_no_secret(identities: list[Identity]) -> None:
    """A and B agree on all but C's key, an older one of which B is shown: all keys change."""
    _, _, earlier = announced(identities)
    _, made, honest = announced(identities)
    a = made[0].agree(honest)
    b = made[1].agree([honest[0], honest[1], earlier[2]])
    assert a.derive(b"x", 0, 1, 1, TRANSCRIPT, 5) != b.derive(b"x", 0, 1, 1, TRANSCRIPT, 5)


def test_a_leader_who_takes_the_same_session_number_twice_gets_other_secrets(
    identities: list[Identity],
) -> None:
    _, first, announced_first = announced(identities)
    _, second, announced_second = announced(identities)
    a, b = first[0].agree(announced_first), second[0].agree(announced_second)
    assert a.derive(b"x", 0, 1, 1, TRANSCRIPT, 5) != b.derive(b"x", 0, 1, 1, TRANSCRIPT, 5)


def test_missing_or_unusable_keys_are_refused(identities: list[Identity]) -> None:
    _, made, honest = announced(identities)
    with pytest.raises(FederationError, match="3 parties must announce a key, 2 did"):
        made[0].agree(honest[:2])
    signed = packed(NUMBER, ROSTER, (2).to_bytes(8, "big"), b"Hospital C", bytes(32))
    signature = identities[2].sign("incrowd federation ephemeral key/1", signed)
    with pytest.raises(FederationError, match="'Hospital C' announced is not a usable one"):
        made[1].agree([*honest[:2], Announcement(2, bytes(32), signature)])


def test_a_key_agrees_once(identities: list[Identity]) -> None:
    _, made, honest = announced(identities)
    made[0].agree(honest)
    with pytest.raises(ParameterError, match="agrees once"):
        made[0].agree(honest)


def test_only_the_pinned_identity_takes_part(identities: list[Identity]) -> None:
    session = make_session(identities)
    with pytest.raises(InputError, match="not the one that the consortium file pins"):
        Ephemeral(session, 0, identities[1])


def test_announcements_travel_as_bytes(identities: list[Identity]) -> None:
    _, _, honest = announced(identities)
    assert Announcement.from_bytes(honest[1].to_bytes()) == honest[1]
    with pytest.raises(FederationError, match="has 98 bytes, got 97"):
        Announcement.from_bytes(honest[1].to_bytes()[:-1])


def test_two_parties_only_when_they_say_so(identities: list[Identity]) -> None:
    public = tuple(each.public for each in identities)
    with pytest.raises(ParameterError, match="any sum minus one's own value is the other's"):
        AgreedSession(NUMBER, ROSTER, ("A", "B"), public[:2])
    with pytest.raises(ParameterError, match="at least two"):
        AgreedSession(NUMBER, ROSTER, ("A",), public[:1], two_parties=True)
    with pytest.raises(ParameterError, match="number of 32 bytes"):
        AgreedSession(b"short", ROSTER, ("A", "B", "C"), public)


def test_a_signature_holds_for_one_context_message_and_identity(identities: list[Identity]) -> None:
    signature = identities[0].sign("context", b"message")
    public = identities[0].public
    assert public.verifies("context", b"message", signature)
    assert not public.verifies("contex", b"tmessage", signature)
    assert not public.verifies("context", b"message!", signature)
    assert not public.verifies("context", b"message", signature[:-1])
    assert not identities[1].public.verifies("context", b"message", signature)


def test_an_identity_is_saved_for_its_owner_only(
    tmp_path: Path, identities: list[Identity]
) -> None:
    path = tmp_path / "identity.pem"
    before = os.umask(0)
    try:
        identities[0].save(path)
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o600
    assert Identity.load(path).public == identities[0].public
    assert path.read_text() not in repr(identities[0])
    with pytest.raises(OutputError, match="never overwritten"):
        identities[1].save(path)
    path.chmod(0o640)
    with pytest.raises(InputError, match="chmod 600"):
        Identity.load(path)


def test_what_is_no_identity_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    with pytest.raises(InputError, match="Cannot read the key"):
        Identity.load(path)
    path.write_bytes(b"not a key")
    path.chmod(0o600)
    with pytest.raises(InputError, match="holds no private key"):
        Identity.load(path)
    for text in ("", "AAAA", "not base64!"):
        with pytest.raises(InputError):
            PublicIdentity.from_text(text)


@given(st.lists(st.binary(max_size=6), max_size=4), st.lists(st.binary(max_size=6), max_size=4))
def test_different_lists_of_parts_are_packed_differently(
    first: list[bytes], second: list[bytes]
) -> None:
    assert (packed(*first) == packed(*second)) == (first == second)


messages = st.lists(st.tuples(st.text(max_size=4), st.binary(max_size=6)), max_size=4)


@given(messages, messages)
def test_transcripts_are_equal_when_their_messages_are(
    first: list[tuple[str, bytes]], second: list[tuple[str, bytes]]
) -> None:
    here, there = Transcript(NUMBER, ROSTER), Transcript(NUMBER, ROSTER)
    for kind, message in first:
        here.add(kind, message)
    for kind, message in second:
        there.add(kind, message)
    assert (here.digest == there.digest) == (first == second)


def test_transcripts_of_other_sessions_and_rosters_differ() -> None:
    starts = {Transcript(n, r).digest for n in (b"a", b"b") for r in (b"a", b"b")}
    assert len(starts) == 4
    assert digest_of("one", b"x") != digest_of("two", b"x")
