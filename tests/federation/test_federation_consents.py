"""Consents: who is asked, what they sign, and which files do not count."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from joint_tables import surgeries

from incrowd.errors import InputError
from incrowd.federation.membership.assembly import assemble, complete_from
from incrowd.federation.membership.consents import Change, Roster, consents_to, give, save
from incrowd.federation.membership.consortium import Consortium
from incrowd.federation.membership.kits import enrol, make_kits

EARLIER = Roster("11" * 32, (("A", "a"), ("B", "b"), ("C", "c")))


def roster(*members: tuple[str, str]) -> Roster:
    return Roster("22" * 32, members)


def asked(change: Change) -> dict[str, set[str]]:
    return {name: set(identities) for name, identities in change.asked}


def test_members_are_known_by_their_identity_whatever_they_are_called() -> None:
    change = Change(EARLIER, roster(("Anna", "a"), ("C", "c"), ("B", "b")))
    assert change.is_none


def test_where_all_keys_are_new_members_are_known_by_their_names() -> None:
    assert Change(EARLIER, roster(("a", "x"), ("B", "y"), ("C", "z"))).is_none
    left = Change(EARLIER, roster(("A", "x"), ("B", "y")))
    assert left.left == [("C", "c")]
    assert asked(left) == {"A": {"a", "x"}, "B": {"b", "y"}, "C": {"c"}}
    assert left.in_words == (
        "The earlier run was of A, B, C; the new one is of A, B. Whoever sees what both open over "
        "the same records can subtract one from the other. That shows counts of C, as exact as the "
        "runs open them."
    )


def test_a_name_with_another_key_is_somebody_else_where_others_kept_theirs() -> None:
    """Else anybody could play the hospital that left."""
    change = Change(EARLIER, roster(("A", "a"), ("B", "b"), ("C", "impostor")))
    assert not change.is_none
    assert asked(change) == {
        "A": {"a"},
        "B": {"b"},
        "C": {"impostor"},
        "C with its earlier key": {"c"},
    }
    assert "counts of C with its earlier key on one side and of C on the other" in change.in_words


def test_who_comes_is_asked_too() -> None:
    change = Change(EARLIER, roster(("A", "a"), ("B", "b"), ("C", "c"), ("D", "d")))
    assert set(asked(change)) == set("ABCD")
    assert "That shows counts of D," in change.in_words


class Runs:
    """Kits of consortia, made by one person, and consents in them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.policy = folder / "policy.yaml"
        self.policy.write_text(yaml.safe_dump(surgeries()), encoding="utf-8")

    def make(self, run: str, names: str, **options: Any) -> Roster:
        made = make_kits(
            self.folder / run,
            list(names),
            self.policy,
            "localhost:1",
            **{"allow_two": len(names) == 2, **options},
        )
        return Roster.of(made)

    def kit(self, run: str, name: str) -> Path:
        return self.folder / run / name

    def given(self, kit: Path, name: str, run: str, **other: Path) -> Path:
        """The consent of a hospital, laid into a kit."""
        return save(give(self.kit(run, name), **other), kit)


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def change_of(runs: Runs, earlier: str = "ABC", new: str = "AB") -> Change:
    return Change(runs.make("old", earlier), runs.make("new", new))


def lay_all(runs: Runs, kit: Path, stay: Sequence[str] = "AB", left: Sequence[str] = "C") -> None:
    for name in stay:
        runs.given(kit, name, "new", earlier=runs.kit("old", name) / "consortium.yaml")
    for name in left:
        runs.given(kit, name, "old", new=runs.kit("new", "A"))  # a folder will do


def test_all_consents_count_and_one_that_is_missing_is_named(runs: Runs) -> None:
    change, kit = change_of(runs), runs.kit("new", "B")
    assert consents_to(change, kit).missing == ("A", "B", "C")
    lay_all(runs, kit, left="")
    assert consents_to(change, kit).missing == ("C",)
    lay_all(runs, kit, stay="")
    assert consents_to(change, kit) == type(consents_to(change, kit))((), ())
    turned = Change(change.new, change.earlier)
    assert consents_to(turned, kit).missing == ("A", "B", "C")


def test_a_forged_consent_does_not_count(runs: Runs) -> None:
    change, kit = change_of(runs), runs.kit("new", "B")
    lay_all(runs, kit)
    place = next((kit / "consents").glob("C-*.yaml"))
    honest = yaml.safe_load(place.read_text(encoding="utf-8"))
    other = give(runs.kit("new", "A"), earlier=runs.kit("old", "A")).signature
    forgeries = {
        "not its hospital's": {"signature": other},
        "has a signature that is not": {"signature": "?"},
        "signature": {"hospital": "D"},
        "nobody who takes part": {"identity": other[:43] + "="},
        "says something else": {"seen": "Nothing is shown."},
        "is no consent": {"format": "incrowd-consent/2"},
    }
    for told, forged in forgeries.items():
        place.write_text(yaml.safe_dump({**honest, **forged}), encoding="utf-8")
        found = consents_to(change, kit)
        assert found.missing == ("C",), told
        assert len(found.odd) == 1
        assert told in found.odd[0]


def test_one_hospital_cannot_consent_for_another(runs: Runs) -> None:
    """A signs, correctly, a file that says it is C's."""
    change, kit = change_of(runs), runs.kit("new", "B")
    lay_all(runs, kit, left="")
    own = give(runs.kit("new", "A"), earlier=runs.kit("old", "A"))
    save(own.model_copy(update={"hospital": "C"}), kit)
    assert consents_to(change, kit).missing == ("C",)


def test_a_foreign_consent_and_one_for_another_run_do_not_count(runs: Runs) -> None:
    change, kit = change_of(runs), runs.kit("new", "B")
    lay_all(runs, kit, left="")
    runs.make("strangers", "ACD")
    runs.given(kit, "C", "strangers", new=runs.kit("new", "A"))
    runs.make("later", "ABD")
    runs.given(kit, "C", "old", new=runs.kit("later", "A"))
    (kit / "consents" / "notes.yaml").write_bytes(b"\xff")
    found = consents_to(change, kit)
    assert found.missing == ("C",)
    assert len([each for each in found.odd if "is for other consortia" in each]) == 2
    assert "notes.yaml is no consent" in found.odd


def test_a_stranger_who_signs_for_the_right_runs_does_not_count(runs: Runs) -> None:
    change, kit = change_of(runs), runs.kit("new", "B")
    lay_all(runs, kit, left="")
    runs.make("strangers", "CDE")
    honest = give(runs.kit("old", "C"), new=runs.kit("new", "A"))
    stranger = give(runs.kit("strangers", "C"), new=runs.kit("new", "A"))
    signed = honest.model_copy(
        update={"identity": stranger.identity, "signature": stranger.signature}
    )
    save(signed, kit)
    found = consents_to(change, kit)
    assert found.missing == ("C",)
    assert "signed by nobody who takes part" in found.odd[0]


def test_a_hospital_whose_certificate_expired_can_consent(runs: Runs) -> None:
    past = datetime.now(UTC) - timedelta(days=400)
    change = Change(runs.make("old", "ABC", now=past), runs.make("new", "AB"))
    lay_all(runs, runs.kit("new", "A"))
    assert consents_to(change, runs.kit("new", "A")).missing == ()


def test_what_cannot_be_consented_to_is_refused(runs: Runs) -> None:
    change_of(runs)
    runs.make("again", "CBA")
    with pytest.raises(InputError, match="one of --earlier and --new"):
        give(runs.kit("new", "A"))
    with pytest.raises(InputError, match="one of --earlier and --new"):
        give(runs.kit("new", "A"), earlier=runs.kit("old", "A"), new=runs.kit("new", "A"))
    with pytest.raises(InputError, match="same members, so no consent is needed"):
        give(runs.kit("again", "A"), earlier=runs.kit("old", "A"))
    with pytest.raises(InputError, match="cannot be read"):
        give(runs.kit("new", "A"), earlier=runs.folder / "nothing.yaml")


def test_a_hospital_that_enrols_again_may_keep_its_identity(runs: Runs) -> None:
    """Then nobody can take its name."""
    members = [enrol(runs.folder / name, name, hosts=["localhost"]) for name in "ABC"]
    assemble(runs.folder / "one", members, runs.policy, "localhost:1")
    again = [
        enrol(
            runs.folder / f"{name}2",
            name,
            hosts=["localhost"],
            identity=None if name == "C" else runs.folder / name / "identity.pem",
        )
        for name in "ABC"
    ]
    assert [one.identity == two.identity for one, two in zip(members, again, strict=True)] == [
        True,
        True,
        False,
    ]
    assemble(runs.folder / "two", again, runs.policy, "localhost:1")
    complete_from(runs.folder / "A2", runs.folder / "two")
    rosters = [
        Roster.of(Consortium.from_file(runs.folder / each / "consortium.yaml"))
        for each in ("one", "two")
    ]
    assert [name for name, _ in Change(*rosters).left] == ["C"]
