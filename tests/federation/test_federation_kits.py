"""Kits: they load back, keep their secrets, pin one another, and are refused once changed."""

from __future__ import annotations

import json
import secrets
import shutil
import ssl
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography import x509

from incrowd._runtime.scratch import stage_prefix
from incrowd.errors import FederationError, InputError, OutputError, ParameterError
from incrowd.federation import Consortium, Kit, load_kit, make_kits, secure_sum
from incrowd.federation.membership._certificates import hosts_of, make_certificate, read_certificate
from incrowd.federation.membership.consortium import FORMAT, split_address
from incrowd.federation.membership.kits import complete, enrol, policy_digest, read_member
from incrowd.federation.protocols._masking import MaskedSum
from incrowd.federation.protocols.key_agreement import Ephemeral

NAMES = ["St. Anna", "Spital Zürich", "12"]
KEYS = ["identity.pem", "tls.key"]
POLICY = """\
attributes:
  job: {role: quasi, hierarchy: trees/job.csv}
  sex: quasi
  disease: sensitive
privacy: [{k-anonymity: {k: 2}}]
"""


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    (folder / "trees").mkdir()
    (folder / "trees" / "job.csv").write_text("Lawyer,White-collar,*\nMover,Blue-collar,*\n")
    (folder / "policy.yaml").write_text(POLICY)
    return folder / "policy.yaml"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, policy: Path) -> Path:
    folder = tmp_path_factory.mktemp("made") / "kits"
    make_kits(folder, NAMES, policy, "leader.example.org:8443", hosts=["10.0.0.7"])
    return folder


@pytest.fixture
def kits(made: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    return Path(shutil.copytree(made, tmp_path / "kits"))


def test_kits_load_back_and_know_one_another(made: Path) -> None:
    opened = [load_kit(made / name) for name in NAMES]
    assert [kit.name for kit in opened] == opened[0].consortium.names == NAMES
    assert [kit.place for kit in opened] == [0, 1, 2]
    assert [kit.leads for kit in opened] == [True, False, False]
    assert len({kit.consortium.digest for kit in opened}) == 1
    assert opened[1].policy.quasi == ["job", "sex"]
    assert (opened[1].policy.base / "trees" / "job.csv").is_file()
    for kit in opened:
        assert kit.consortium.parties[kit.place].public == kit.identity.public


def test_parties_with_kits_add_up_their_counts(made: Path) -> None:
    opened = [load_kit(made / name) for name in NAMES]
    number = secrets.token_bytes(32)
    made_keys = [Ephemeral(k.consortium.session(number), k.place, k.identity) for k in opened]
    announcements = [each.announcement for each in made_keys]
    sides = [secure_sum(each.agree(announcements), 0) for each in made_keys]
    assert isinstance(sides[0], MaskedSum)
    answers = [side.contribute(1, b"t" * 32, np.array([4, 1])) for side in sides]
    assert sides[0].opened(1, b"t" * 32, answers, 2).tolist() == [12, 3]


def test_a_stranger_with_kits_of_the_same_names_gets_nowhere(
    made: Path, policy: Path, tmp_path: Path
) -> None:
    make_kits(tmp_path / "other", NAMES, policy, "leader.example.org:8443")
    here, there = load_kit(made / "12"), load_kit(tmp_path / "other" / "12")
    assert here.consortium.digest != there.consortium.digest
    with pytest.raises(InputError, match="not the one that the consortium file pins"):
        Ephemeral(here.consortium.session(bytes(32)), 2, there.identity)


def test_secrets_are_for_their_owner_only(made: Path) -> None:
    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    assert mode(made) == 0o700
    for name in NAMES:
        assert mode(made / name) == mode(made / name / "policy") == 0o700
        assert mode(made / name / "identity.pem") == mode(made / name / "tls.key") == 0o600
        assert mode(made / name / "policy" / "policy.yaml") == 0o600
    assert [path.name for path in made.parent.iterdir()] == ["kits"]


def test_no_secret_of_one_hospital_lies_in_the_kit_of_another(made: Path) -> None:
    secret = [
        path.read_bytes()
        for path in sorted(made.rglob("*"))
        if path.is_file() and b"PRIVATE" in path.read_bytes()
    ]
    own = {(made / name / file).read_bytes() for name in NAMES for file in KEYS}
    assert len(secret) == len(own) == 6
    assert set(secret) == own


def test_the_readme_says_how_to_start_and_what_to_compare(made: Path) -> None:
    leader = (made / "St. Anna" / "README.md").read_text(encoding="utf-8")
    party = (made / "12" / "README.md").read_text(encoding="utf-8")
    assert "no patient may be in two hospitals" in leader
    assert "incrowd federation lead . --data FILE" in leader
    assert "incrowd federation join . --data FILE" in party
    print_of = [line for line in party.splitlines() if line.startswith("    ")][-1]
    assert print_of in leader


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("policy/policy.yaml", POLICY.replace("k: 2", "k: 3"), "policy in the kit"),
        ("policy/trees/job.csv", "Lawyer,*\nMover,*\n", "policy in the kit"),
        ("tls.pem", None, "not the certificate that the consortium pins for '12'"),
        ("tls.key", None, "is not the key of the certificate"),
        ("identity.pem", None, "identity in this kit is not one that its consortium file pins"),
        ("tls.pem", "", "not the certificate that the consortium pins for '12'"),
    ],
)
def test_a_changed_kit_is_refused(
    kits: Path, policy: Path, tmp_path: Path, file: str, content: str | None, told: str
) -> None:
    path = kits / "12" / file
    if content is None:  # that of another consortium
        make_kits(tmp_path / "other", NAMES, policy, "leader.example.org:8443")
        content = (tmp_path / "other" / "12" / file).read_text()
    path.write_text(content)
    with pytest.raises(FederationError, match=told) as caught:
        load_kit(kits / "12")
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("file", ["identity.pem", "tls.key"])
def test_a_key_that_others_may_read_or_that_is_gone_is_refused(kits: Path, file: str) -> None:
    path = kits / "12" / file
    path.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        load_kit(kits / "12")
    path.unlink()
    with pytest.raises(InputError, match="Cannot read the key"):
        load_kit(kits / "12")


def test_expired_certificates_are_refused_by_name(made: Path) -> None:
    now = datetime.now(UTC)
    load_kit(made / "12", now=now + timedelta(days=29))
    with pytest.raises(FederationError, match=r"certificate of 'St\. Anna' expired on"):
        load_kit(made / "12", now=now + timedelta(days=31))
    with pytest.raises(FederationError, match="Check the clock"):
        load_kit(made / "12", now=now - timedelta(days=1))


def test_the_files_of_a_kit_are_refused_where_they_are_missing(tmp_path: Path, kits: Path) -> None:
    with pytest.raises(InputError, match="There is no kit"):
        load_kit(tmp_path / "nowhere")
    (kits / "12" / "consortium.yaml").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        load_kit(kits / "12")


@pytest.mark.parametrize(
    ("names", "options", "told"),
    [
        (["A"], {}, "at least two"),
        (["A"], {"allow_two": True}, "at least two"),
        (["A", "B"], {}, "any sum minus one's own value is the other's"),
        (["A", "B", "a"], {}, "same name"),
        (["A", "B", "../C"], {}, "cannot be the name"),
        (["A", "B", ".C"], {}, "cannot be the name"),
        (["A", "B", "C "], {}, "cannot be the name"),
        (["A", "B", "C" * 41], {}, "cannot be the name"),
        (["A", "B", "C"], {"leader": "D"}, "not one of the hospitals"),
        (["A", "B", "C"], {"days": 0}, "1 to 825 days"),
        (["A", "B", "C"], {"hosts": ["ü.example.org"]}, "is no host name"),
    ],
)
def test_bad_consortia_are_refused_and_leave_nothing(
    tmp_path: Path, policy: Path, names: list[str], options: dict[str, Any], told: str
) -> None:
    with pytest.raises(ParameterError, match=told):
        make_kits(tmp_path / "kits", names, policy, "localhost:8443", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("address", ["localhost", "localhost:", ":80", "a b:80", "x:99999", "x:-1"])
def test_bad_addresses_are_refused(tmp_path: Path, policy: Path, address: str) -> None:
    with pytest.raises(InputError, match="write host:port"):
        make_kits(tmp_path / "kits", ["A", "B", "C"], policy, address)
    assert list(tmp_path.iterdir()) == []


def test_addresses_split_into_host_and_port() -> None:
    assert split_address("127.0.0.1:80") == ("127.0.0.1", 80)
    assert split_address("[0:0::1]:443") == ("::1", 443)


def test_existing_folders_are_never_touched(tmp_path: Path, policy: Path) -> None:
    (tmp_path / "kits").mkdir()
    with pytest.raises(OutputError, match="exists"):
        make_kits(tmp_path / "kits", NAMES, policy, "localhost:8443")
    with pytest.raises(OutputError, match="does not exist"):
        make_kits(tmp_path / "no" / "kits", NAMES, policy, "localhost:8443")


def test_two_hospitals_on_demand_are_warned(tmp_path: Path, policy: Path) -> None:
    made = make_kits(tmp_path / "kits", ["A", "B"], policy, "localhost:1", allow_two=True)
    assert made.two_parties
    text = (tmp_path / "kits" / "B" / "README.md").read_text()
    assert "any sum minus one's own value is the other's" in text
    with pytest.raises(InputError, match="any sum minus one's own value"):
        Consortium.from_yaml(made.to_yaml().replace("two_parties: true", "two_parties: false"))


def test_ring_sums_are_written_into_the_pinned_file(tmp_path: Path, policy: Path) -> None:
    made = make_kits(tmp_path / "kits", ["A", "B", "C"], policy, "localhost:1", sums="ring")
    assert load_kit(tmp_path / "kits" / "A").consortium.sums == made.sums == "ring"
    assert "Ring sums" in (tmp_path / "kits" / "C" / "README.md").read_text()


def test_hierarchies_outside_the_folder_of_the_policy_are_refused(tmp_path: Path) -> None:
    (tmp_path / "job.csv").write_text("Lawyer,*\n")
    (tmp_path / "sub").mkdir()
    for named in ("../job.csv", str(tmp_path / "job.csv")):
        path = tmp_path / "sub" / "policy.yaml"
        path.write_text(POLICY.replace("trees/job.csv", named))
        with pytest.raises(InputError, match="does not lie beside or below"):
            make_kits(tmp_path / "kits", NAMES, path, "localhost:1")


@pytest.mark.parametrize(
    "named",
    ["patients.csv", "link.csv", "table.csv", "people.csv", "id_key", ".ssh/keys.csv", ".secret"],
)
def test_kits_carry_no_table_that_a_policy_calls_a_hierarchy(tmp_path: Path, named: str) -> None:
    """Every kit would hold its content."""
    (tmp_path / "elsewhere.csv").write_text("Lawyer,White-collar,*\n")
    home = tmp_path / "job"
    home.mkdir()
    (home / "patients.csv").write_text("Lawyer,White-collar,*\nMover,Blue-collar,*\n")
    (home / "link.csv").symlink_to(tmp_path / "elsewhere.csv")
    (home / "table.csv").write_text("1,F,Flu\n2,M,HIV\n3,F,HIV\n")
    (home / "people.csv").write_text("1,Anna\n2,Berta\n3,Clara\n")
    (home / "id_key").write_text("-----BEGIN KEY-----\nb3BlbnNzaC1rZXktdjEA\n")
    (home / ".ssh").mkdir()
    for hidden in (".ssh/keys.csv", ".secret"):
        (home / hidden).write_text("Lawyer,White-collar,*\nMover,Blue-collar,*\n")
    text = POLICY.replace("trees/job.csv", named)
    (home / "policy.yaml").write_text("source: patients.csv\n" + text)
    told = r"the source itself|a link|must be nested|share a label|hidden"
    with pytest.raises(InputError, match=told):
        make_kits(tmp_path / "kits", NAMES, home / "policy.yaml", "localhost:1")
    assert not (tmp_path / "kits").exists()


def test_each_hospital_can_make_its_own_keys(tmp_path: Path, policy: Path) -> None:
    """Nobody but the hospital ever holds its secrets; only members travel."""
    for name in ("A", "B", "C"):
        enrol(tmp_path / name, name, hosts=["localhost"] if name == "B" else [])
    members = [read_member(tmp_path / name / "member.yaml") for name in ("A", "B", "C")]
    made = Consortium(
        format=FORMAT,
        id="0" * 32,
        leader="B",
        address="localhost:8443",
        policy=policy_digest(policy),
        parties=members,
    )
    for name in ("A", "B", "C"):
        complete(tmp_path / name, made, policy)
        assert load_kit(tmp_path / name).consortium.digest == made.digest
    with pytest.raises(OutputError, match="has a consortium already"):
        complete(tmp_path / "A", made, policy)
    with pytest.raises(OutputError, match="Cannot make the folder"):
        enrol(tmp_path / "A", "A")


def test_the_consortium_is_the_same_in_yaml_and_json_and_pins_everything(made: Path) -> None:
    consortium = load_kit(made / "12").consortium
    mapping = consortium.model_dump()
    assert Consortium.from_yaml(json.dumps(mapping)).digest == consortium.digest
    assert Consortium.from_yaml(consortium.to_yaml()) == consortium
    swapped = {**mapping, "parties": mapping["parties"][::-1]}
    for changed in (
        swapped,
        {**mapping, "id": "0" * 32},
        {**mapping, "address": "10.0.0.7:1"},
        {**mapping, "policy": "0" * 64},
        {**mapping, "sums": "ring"},
    ):
        assert Consortium.from_yaml(json.dumps(changed)).digest != consortium.digest


def test_ids_that_look_like_numbers_stay_texts(made: Path) -> None:
    mapping = load_kit(made / "12").consortium.model_dump()
    mapping |= {"id": "1234567890123456789e012345678901", "policy": "1" * 64}
    consortium = Consortium.model_validate(mapping)
    assert Consortium.from_yaml(consortium.to_yaml()) == consortium


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"extra": 1}, "unknown key 'extra'"),
        ({"format": "incrowd-consortium/2"}, "format must be incrowd-consortium/1"),
        ({"leader": "St Anna"}, "Did you mean 'St. Anna'"),
        ({"address": "elsewhere:1"}, "not for its host 'elsewhere'"),
        ({"id": "xyz"}, "id"),
        ({"parties": []}, "at least 2 entries"),
    ],
)
def test_mistakes_in_the_consortium_file_are_told(
    made: Path, change: dict[str, Any], told: str
) -> None:
    mapping = load_kit(made / "12").consortium.model_dump() | change
    with pytest.raises(InputError, match=told):
        Consortium.from_yaml(json.dumps(mapping))


@pytest.mark.parametrize("field", ["identity", "certificate", "name"])
def test_no_two_parties_share_a_key_or_a_name(made: Path, field: str) -> None:
    mapping = load_kit(made / "12").consortium.model_dump()
    mapping["parties"][2][field] = mapping["parties"][1][field]
    with pytest.raises(InputError, match=f"same {field}"):
        Consortium.from_yaml(json.dumps(mapping))
    mapping["parties"][2][field] = "?"
    with pytest.raises(InputError, match=rf"parties\[2\].{field}"):
        Consortium.from_yaml(json.dumps(mapping))
    with pytest.raises(InputError, match="not a YAML file"):
        Consortium.from_yaml("a: b: c")


def test_certificates_say_what_they_are_for() -> None:
    made = make_certificate("A", ["a.example.org", "::1"], days=7)
    certificate = read_certificate(made.certificate)
    assert hosts_of(made.certificate) == ["a.example.org", "::1"]
    assert hosts_of(make_certificate("B").certificate) == []
    assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    assert usage.digital_signature
    assert not usage.key_cert_sign
    valid = certificate.not_valid_after_utc - certificate.not_valid_before_utc
    assert valid == timedelta(days=7, hours=1)


def shake_hands(server: ssl.SSLContext, client: ssl.SSLContext, host: str | None) -> bytes | None:
    """The certificate that the server sees, after a handshake through memory."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    here = server.wrap_bio(to_server, to_client, server_side=True)
    there = client.wrap_bio(to_client, to_server, server_hostname=host)
    waiting = [there, here]
    for _ in range(10):
        for end in list(waiting):
            try:
                end.do_handshake()
                waiting.remove(end)
            except ssl.SSLWantReadError:
                pass
    assert not waiting
    return here.getpeercert(binary_form=True)


def contexts(kit: Kit, trusted: list[str]) -> ssl.SSLContext:
    kind = ssl.PROTOCOL_TLS_SERVER if kit.leads else ssl.PROTOCOL_TLS_CLIENT
    context = ssl.SSLContext(kind)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.verify_mode = ssl.CERT_REQUIRED
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    context.load_cert_chain(kit.certificate_path, kit.key_path)
    context.load_verify_locations(cadata="".join(trusted))
    return context


def test_pinned_certificates_make_a_connection_from_both_sides(made: Path) -> None:
    leader, party = load_kit(made / "St. Anna"), load_kit(made / "Spital Zürich")
    pinned = [each.certificate for each in leader.consortium.parties]
    server, client = contexts(leader, pinned), contexts(party, [pinned[0]])
    seen = shake_hands(server, client, "leader.example.org")
    assert seen == ssl.PEM_cert_to_DER_cert(pinned[1])
    assert shake_hands(server, client, "10.0.0.7") == seen
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shake_hands(server, client, "elsewhere.example.org")


def test_who_is_not_pinned_or_is_expired_gets_no_connection(
    made: Path, policy: Path, tmp_path: Path
) -> None:
    past = datetime.now(UTC) - timedelta(days=40)
    make_kits(tmp_path / "old", NAMES, policy, "leader.example.org:8443", now=past)
    leader, stranger = load_kit(made / "St. Anna"), load_kit(tmp_path / "old" / "12", now=past)
    pinned = [each.certificate for each in leader.consortium.parties]
    server = contexts(leader, pinned)
    with pytest.raises(ssl.SSLCertVerificationError, match="self-signed"):
        shake_hands(server, contexts(stranger, [pinned[0]]), "leader.example.org")
    old = [each.certificate for each in stranger.consortium.parties]
    server = contexts(leader, old)
    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        shake_hands(server, contexts(stranger, [pinned[0]]), "leader.example.org")


def test_the_command_line_starts_without_cryptography() -> None:
    code = (
        "import sys, incrowd.cli.app; "
        "sys.exit(any(m.startswith(('cryptography', 'incrowd.federation')) for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_kits_that_a_killed_process_left_half_made_are_removed(
    policy: Path, tmp_path: Path
) -> None:
    left = tmp_path / f"{stage_prefix(tmp_path / 'kits')}999999999.x.partial"
    (left / "12").mkdir(parents=True)
    make_kits(tmp_path / "kits", NAMES, policy, "leader.example.org:8443")
    assert [path.name for path in tmp_path.iterdir()] == ["kits"]
