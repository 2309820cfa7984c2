"""A manifest that is not one fails the verdict, and never ends in a traceback."""

from __future__ import annotations

import base64
import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from handmade_release import make_release, public_pem, read_manifest, write_manifest, write_text
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.errors import InputError
from incrowd.verify import Finding, verify

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("age", "ill")
ROWS = [("1", "flu"), ("1", "gout")]


def make(folder: Path, **options: Any) -> Path:
    return make_release(folder, COLUMNS, ROWS, quasi=("age",), sensitive=("ill",), **options)


def failed(folder: Path) -> str:
    """Return why the manifest is not whole, which must be the only finding."""
    verdict = verify(folder)
    (finding,) = verdict.findings
    assert (finding.promise, finding.holds) == ("manifest is whole", False)
    assert not verdict.holds
    return finding.detail


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"", "is not JSON"),
        (b"not json", "is not JSON"),
        (b"{", "is not JSON"),
        (b"\xff\xfe{}", "is not JSON"),
        (b"\xef\xbb\xbf{}", "is not JSON"),
        (b'{"seed": NaN}', "is not JSON"),
        (b'{"seed": 1e999}', "is not JSON"),
        (b'{"seed": "\\ud800"}', "is not JSON"),
        (b'{"seed": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "is not JSON"),
        (b'{"seed": ' + b"9" * 10_000 + b"}", "is not JSON"),
        (b"[]", "does not hold a JSON object"),
        (b"null", "does not hold a JSON object"),
        (b'"manifest"', "does not hold a JSON object"),
        (b'{"seed": 1, "seed": 2}', "names one key twice"),
        (b"{}", "'format' must be 'incrowd-release/1'"),
    ],
)
def test_a_manifest_that_is_no_manifest(tmp_path: Path, text: bytes, problem: str) -> None:
    (tmp_path / "manifest.json").write_bytes(text)
    assert problem in failed(tmp_path)


REQUIRED = (
    "format",
    "incrowd",
    "publish",
    "records",
    "suppression_limit",
    "attributes",
    "promises",
    "files",
)


@pytest.mark.parametrize("key", REQUIRED)
@pytest.mark.parametrize("wrong", [None, [], {}, "", -1, True, [None], {"x": None}, 10**400])
def test_a_key_of_the_wrong_type(tmp_path: Path, key: str, wrong: object) -> None:
    made = make(tmp_path, change=lambda manifest: manifest.update({key: wrong}))
    assert key in failed(made) or key.rstrip("s") in failed(made)


@pytest.mark.parametrize("key", [*REQUIRED, "digest"])
def test_a_key_that_is_missing(tmp_path: Path, key: str) -> None:
    made = make(tmp_path)
    manifest = read_manifest(made)
    del manifest[key]
    if key == "digest":
        write_text(made, manifest)
    else:
        write_manifest(made, manifest)
    assert f"'{key}'" in failed(made)


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        (("records", "source"), -1, "source"),
        (("records", "published"), 2.0, "published"),
        (("records", "suppressed"), True, "suppressed"),
        (("records", "missing_dropped"), None, "missing_dropped"),
        (("suppression_limit",), 1.5, "'suppression_limit'"),
        (("attributes", 1, "name"), 3, "attribute 2"),
        (("attributes", 1, "role"), "quasy", "in a role that is not known"),
        (("attributes", 1, "published"), "yes", "attribute 2"),
        (("attributes", 1, "name"), "ill", "names one column twice"),
        (("promises", 0, "model"), 7, "promise 1"),
        (("promises", 0, "parameters"), [5], "promise 1"),
        (("files", "data.csv", "sha256"), "abc", "'sha256'"),
        (("files", "data.csv", "bytes"), "9", "'bytes'"),
        (("files", "data.csv", "rows"), None, "'rows'"),
        (("files", "data.csv", "columns"), [], "'columns'"),
        (("files", "data.csv", "columns"), ["age", "age"], "'columns'"),
        (("files", "data.csv", "columns"), "age", "'columns'"),
        (("measured",), {}, "'measured'"),
        (("measured",), [3], "'measured'"),
        (("groups",), [], "'groups'"),
    ],
)
def test_a_part_that_is_malformed(
    tmp_path: Path, path: tuple[Any, ...], value: object, problem: str
) -> None:
    def change(manifest: dict[str, Any]) -> None:
        part: Any = manifest
        for step in path[:-1]:
            part = part[step]
        part[path[-1]] = value

    assert problem in failed(make(tmp_path, change=change))


def test_several_problems_are_counted(tmp_path: Path) -> None:
    made = make(tmp_path, change=lambda manifest: manifest.update(promises=[], files={}))
    assert failed(made).endswith("(and 1 more problem)")


@pytest.mark.parametrize(
    "path",
    [
        (),
        ("records",),
        ("attributes", 1),
        ("promises", 0),
        ("promises", 0, "parameters"),
        ("method",),
        ("files", "data.csv"),
    ],
)
def test_a_key_that_is_not_known_is_refused_at_every_level(
    tmp_path: Path, path: tuple[Any, ...]
) -> None:
    def change(manifest: dict[str, Any]) -> None:
        part: Any = manifest
        for step in path:
            part = part[step]
        part["note"] = "größe"

    (found,) = verify(make(tmp_path, change=change)).broken
    assert "note" in found.detail


def test_a_manifest_in_another_form_is_refused(tmp_path: Path) -> None:
    made = make(tmp_path)
    assert verify(made).holds
    text = (made / "manifest.json").read_text()
    for other in (text[:-1], text + "\n", text.replace("  ", "\t"), json.dumps(json.loads(text))):
        (made / "manifest.json").write_text(other)
        (found,) = verify(made).broken
        assert found.detail == "manifest.json is not written in its one form"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def places(part: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = part.items() if isinstance(part, dict) else enumerate(part)
    found = [(*path, key) for key, _ in inner]
    inner = part.items() if isinstance(part, dict) else enumerate(part)
    for key, value in inner:
        if isinstance(value, dict | list):
            found += places(value, (*path, key))
    return found


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_change_of_any_part_ends_in_a_traceback(tmp_path: Path, data: st.DataObject) -> None:
    ordered = {"t": 0.9, "distance": "ordered", "sensitive": "ill"}
    tree = {"t": 0.9, "distance": "hierarchical", "sensitive": "ill"}
    promises = [
        {"model": "k-anonymity", "parameters": {"k": 2}},
        {"model": "t-closeness", "parameters": ordered, "order": ["flu", "gout"]},
        {
            "model": "t-closeness",
            "parameters": tree,
            "ancestors": {"flu": ["1.0", "2.0"], "gout": ["1.1", "2.0"]},
        },
        {"model": "l-diversity", "parameters": {"l": 2, "kind": "entropy", "sensitive": "ill"}},
    ]
    made = make(tmp_path, promises=promises)
    manifest = read_manifest(made)
    manifest["groups"] = {"count": 1, "smallest": 2, "average": 2.0, "largest": 2}
    write_manifest(made, manifest)
    assert verify(made).holds
    changed = copy.deepcopy(manifest)
    path = data.draw(st.sampled_from(places(manifest)))
    part: Any = changed
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = data.draw(json_values)
    write_text(made, changed)
    verdict = verify(made)
    assert verdict.holds == (changed == manifest and str(changed) == str(manifest))
    write_manifest(made, changed)
    verify(made)


# Signatures


def signature_finding(folder: Path, **options: Any) -> Finding:
    (finding,) = [
        each for each in verify(folder, **options).findings if each.promise == "signature"
    ]
    return finding


def test_a_signature_by_the_key_given(tmp_path: Path) -> None:
    signer = Ed25519PrivateKey.generate()
    made = make(tmp_path / "release", signer=signer)
    pem = public_pem(signer)
    (tmp_path / "key.pem").write_bytes(pem)
    for key in (pem, tmp_path / "key.pem", str(tmp_path / "key.pem")):
        assert signature_finding(made, key=key).detail == "signed by the key given"
        assert verify(made, key=key).holds


def test_a_signature_by_another_key(tmp_path: Path) -> None:
    made = make(tmp_path, signer=Ed25519PrivateKey.generate())
    finding = signature_finding(made, key=public_pem(Ed25519PrivateKey.generate()))
    assert not finding.holds
    assert finding.detail == "the release is signed by another key than the one given"


def test_a_key_in_the_manifest_is_not_believed(tmp_path: Path) -> None:
    # The forger signs with his own key and states the key that everybody trusts.
    trusted, forger = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    made = make(tmp_path, signer=forger)
    manifest = read_manifest(made)
    raw = trusted.public_key().public_bytes_raw()
    manifest["signature"]["key"] = base64.b64encode(raw).decode()
    write_text(made, manifest)
    assert not signature_finding(made, key=public_pem(trusted)).holds


def test_a_missing_signature(tmp_path: Path) -> None:
    made = make(tmp_path)
    assert verify(made).holds
    verdict = verify(made, key=public_pem(Ed25519PrivateKey.generate()))
    assert not verdict.holds
    assert [f.promise for f in verdict.findings if not f.holds] == ["signature"]


def test_a_signature_without_a_key_is_by_an_unpinned_one(tmp_path: Path) -> None:
    made = make(tmp_path, signer=Ed25519PrivateKey.generate())
    finding = signature_finding(made)
    assert finding.holds
    assert "signed by an unpinned key" in finding.detail
    manifest = read_manifest(made)
    manifest["seed"] = 1
    write_manifest(made, manifest)
    assert not signature_finding(made).holds


@pytest.mark.parametrize(
    "wrong",
    [
        [],
        "x",
        {},
        {"algorithm": "RSA"},
        {"key": None},
        {"key": "@@"},
        {"key": "é"},
        {"value": "AAAA"},
        {"value": 3},
    ],
)
def test_a_malformed_signature(tmp_path: Path, wrong: Any) -> None:
    made = make(tmp_path, signer=Ed25519PrivateKey.generate())
    manifest = read_manifest(made)
    whole = isinstance(wrong, dict) and wrong
    manifest["signature"] = {**manifest["signature"], **wrong} if whole else wrong
    write_text(made, manifest)
    finding = signature_finding(made)
    assert (finding.holds, finding.detail) == (False, "the signature is malformed")


def test_a_malformed_manifest_does_not_pass_as_signed(tmp_path: Path) -> None:
    signer = Ed25519PrivateKey.generate()
    make(tmp_path, signer=signer)
    (tmp_path / "manifest.json").write_text("[]")
    assert not signature_finding(tmp_path, key=public_pem(signer)).holds


def test_a_key_that_is_none_is_bad_input(tmp_path: Path) -> None:
    made = make(tmp_path / "release")
    with pytest.raises(InputError, match="Cannot read the key"):
        verify(made, key=tmp_path / "nowhere.pem")
    with pytest.raises(InputError, match="not a public key"):
        verify(made, key=b"nonsense")
    other = generate_private_key(SECP256R1()).public_key()
    pem = other.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    with pytest.raises(InputError, match="of another kind"):
        verify(made, key=pem)
