"""Secrets and personal names refuse a write; the found value is never part of the message."""

from __future__ import annotations

import time

import pytest
from harness.handbooks import record

from capture import store
from capture.errors import EXIT_PRIVACY, PrivacyRefused
from capture.record import privacy
from capture.record.privacy import Identity

NO_ONE = Identity()
WHO = privacy.identity("maria-workstation.lab.example.org", "mariaperez")
TOKEN = "hf_" + "Z" * 34
# Made up, each of the shape that its issuer documents.
SECRETS = {
    "Hugging Face token": [TOKEN, TOKEN[:9] + "...", f"--token={TOKEN}", f"HF_TOKEN='{TOKEN}'"],
    "GitHub token": ["ghp_" + "a1B2" * 9, "gho_abc123...", "github_pat_11ABCDEFG0" + "x" * 20],
    "GitLab token": ["glpat-" + "x7_Y" * 5],
    "OpenAI or Anthropic key": ["sk-proj-" + "a1B2" * 8, "sk-ant-api03-" + "x9" * 10, "sk-" + "A1b2" * 12],
    "AWS access key": ["AKIA" + "IOSFODNN7EXAMPLE", "ASIA" + "ABCDEFGH1234"],
    "Google key": ["AIza" + "Sy" * 17 + "x"],
    "Slack token": ["xoxb-" + "123456789012"],
    "PyPI token": ["pypi-" + "AgEIcHlwaS5vcmc" * 2],
    "npm token": ["npm_" + "a1B2" * 9],
    "Weights & Biases key": ["wandb_api_key: " + "0a1b" * 10, "WANDB-KEY=" + "0a1b" * 10],
    "JSON web token": ["eyJhbGciOiJI" + "." + "eyJzdWIiOiIx" + "." + "c2ln"],
    "bearer token": ["Authorization: Bearer " + "a1B2" * 6],
    "private key": ["-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----"],
    "password in an address": ["https://maria:s3cret@example.org/x", "postgresql+psycopg://u:p@db/x"],
    "secret given by name": [
        "api_key = 'abcd1234efgh'", "password: correct-horse", '"secret": "abcd1234"', "GH_TOKEN=abcd1234ef",
    ],
}  # fmt: skip
PERSONAL = {
    "home folder": [
        "/home/maria/x", "/Users/maria", r"C:\Users\maria", r"C:\\Users\\maria", "c:/users/maria", r"\/home\/maria",
        "%2Fhome%2Fmaria", "/var/home/maria", "-I/home/maria", "/home/josé", "/home/user-maria", "/home/runner.old",
    ],
    "MAC address": ["00:1b:63:84:45:e6", "00-1B-63-84-45-E6"],
    "GPU UUID": ["GPU-1b2c3d4e-0000-1111-2222-0123456789ab", "MIG-1b2c3d4e-0000-1111-2222-0123456789ab"],
    "PCI address": ["00000000:3B:00.0", "0000:03:00.1"],
}  # fmt: skip
HARMLESS = [
    "hf_hub_download(repo)", "hf_transfer", "load_hf_Model8bit", "task-1234567890123", "disk-0123456789012", "sk-learn",
    "ghp_", "AKIA", "password: None", "api_key=<your key>", "token: <|endoftext|>", "eos_token='[PAD]'", "secret = ''",
    "max_new_tokens=1024", "https://example.org/a:b@c", "https://user@example.org", "eyJ is base64 for {",
    "/home/user/x", "/home/runner/work", "/Users/Shared/x", "/home/ubuntu", "/home/conda/feedstock_root",
    "/home/<user>",
    "~/x", "/home/", "see /homework/maria", "12:30:45", "aa:bb:cc", "2026-11-29-10-11-12", "20-26-11-29-10-11",
    "1.0.0.0",
    "41c0a5fe-0000-1111-2222-0123456789ab", "GPU-0", "0x7f3a2b1c", "torch.Size([2, 3])", "12:34.5", "std::vector<int>",
]  # fmt: skip


def rows(table: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Return (name, text) for every text."""
    return [(name, text) for name, texts in table.items() for text in texts]


@pytest.mark.parametrize(("name", "text"), rows(SECRETS))
def test_a_secret_is_found_and_never_echoed(name: str, text: str) -> None:
    """The message names the kind and the line, and says to revoke it; no part of the value is in it."""
    hits = privacy.scan(f"ok\nusing {text} now\n", "a.yaml", NO_ONE)
    assert {(hit.path, hit.line, hit.rule) for hit in hits} == {("a.yaml", 2, "secret")}
    assert f"holds a {name}; revoke it, then keep it out of the output" in [hit.message for hit in hits]
    assert not any(text[-6:] in str(hit) for hit in hits)


@pytest.mark.parametrize(("name", "text"), rows(PERSONAL))
def test_what_names_a_machine_or_a_person_is_found(name: str, text: str) -> None:
    """Homes in every spelling, and the numbers that only one device has."""
    (hit,) = privacy.scan(f"at {text}\n", "a.yaml", NO_ONE)
    assert (hit.line, hit.rule) == (1, "personal")
    assert hit.message.startswith(f"holds a {name}; ")


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_alike_is_let_through(text: str) -> None:
    """A check that fires often for nothing would soon be ignored."""
    assert privacy.scan(f"{text}\n", "a.yaml", WHO) == []


@pytest.mark.parametrize(
    "stdout",
    [
        pytest.param("using token {}\n", id="priv-token"),
        pytest.param("prefix {:.9}...\n", id="priv-token-prefix"),
        pytest.param("\t{}\n", id="after-tab"),
        pytest.param("\trow\n{}\n", id="at-line-start-of-escaped-text"),
        pytest.param("\trow\n  /home/maria\n{}\n", id="after-path-in-escaped-text"),
        pytest.param(r"\x1b{}" + "\n", id="after-visible-escape"),
        pytest.param(r"'a\n{}'" + "\n", id="in-a-repr"),
        pytest.param(r"\u2028{}" + "\n", id="after-visible-separator"),
    ],
)
def test_a_token_in_a_record_is_found_however_yaml_writes_it(stdout: str) -> None:
    """Text that starts with a tab is written as one escaped line, in which an escape's letter touches the token."""
    text = store.record_text(record("a/b", stdout=stdout.format(TOKEN)))
    assert any("Hugging Face token" in hit.message for hit in privacy.scan(text, "a.yaml", NO_ONE))


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"stderr": f"{TOKEN}\n"}, id="priv-meta-secret-stderr"),
        pytest.param({"packages": {"x": TOKEN}}, id="priv-meta-secret-packages"),
        pytest.param({"upstream": {TOKEN: "41c0"}}, id="priv-meta-secret-upstream"),
        pytest.param({"chip": f"EPYC {TOKEN}"}, id="priv-meta-secret-chip"),
        pytest.param({"hint": f"set {TOKEN}"}, id="priv-meta-secret-hint"),
        pytest.param({"diagnostics": f"File x, {TOKEN}\n"}, id="priv-meta-secret-diagnostics"),
        pytest.param({"limits": {"cpus": TOKEN}}, id="priv-meta-secret-limits"),
    ],
)
def test_the_whole_file_is_scanned(changes: dict[str, object]) -> None:
    """A secret in any field refuses the write, not only one in the output."""
    item = record("a/b", **changes)
    with pytest.raises(PrivacyRefused) as refused:
        privacy.require_clean(store.record_text(item), "a.yaml", NO_ONE)
    assert refused.value.exit_code == EXIT_PRIVACY == 3
    assert "hf_" not in str(refused.value)
    assert "Z" not in str(refused.value)


def test_clean_text_is_let_through() -> None:
    """An ordinary record is refused by nothing."""
    privacy.require_clean(store.record_text(record("a/b")), "a.yaml", WHO)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("on maria-workstation now", id="priv-node"),
        pytest.param("on MARIA-WORKSTATION.lab.example.org", id="priv-node-fqdn"),
        pytest.param("uname_result(system='Linux', node='maria-workstation')", id="priv-node-uname"),
        pytest.param("for mariaperez:", id="user"),
        pytest.param(r"a\nmariaperez", id="user-after-escape"),
        pytest.param("/scratch/mariaperez/x", id="user-in-path"),
    ],
)
def test_the_node_and_the_user_are_found_as_whole_words(text: str) -> None:
    """In any letter case; which name it was is not repeated."""
    (hit,) = privacy.scan(text, "a.yaml", WHO)
    assert (hit.rule, hit.message) == ("personal", "holds the node or user name of this machine; do not print it")


def test_names_within_longer_words_are_none() -> None:
    """`mariaperezoso` is another word."""
    assert privacy.scan("mariaperezoso xmariaperez maria_workstation maria", "a.yaml", WHO) == []


@pytest.mark.parametrize(
    ("node", "user", "names"),
    [
        ("maria-pc.example.org", "Maria", ("maria-pc.example.org", "maria-pc", "maria")),
        ("vpn-093.example.org", "sam", ("vpn-093.example.org", "vpn-093")), ("ab12", "root", ()), (None, None, ()),
        ("", "  ", ()), ("localhost", "ubuntu", ()), ("runner", "RUNNER", ()), ("laptop", "laptop", ("laptop",)),
    ],
)  # fmt: skip
def test_names_worth_looking_for_are_long_and_not_common(
    node: str | None, user: str | None, names: tuple[str, ...]
) -> None:
    """Five letters or more; `root`, `ubuntu`, `runner` say nothing about anyone, and there may be no name at all."""
    assert privacy.identity(node, user).names == names


def test_a_name_is_no_pattern() -> None:
    """A node named `a.b+c` is searched as it is."""
    who = privacy.identity("node.x+y", None)
    assert privacy.scan("nodeqx+y nodexxxy", "a.yaml", who) == []
    assert len(privacy.scan("node.x+y", "a.yaml", who)) == 1


def test_each_hit_has_its_line_and_is_told_once() -> None:
    """Two tokens on two lines are two problems; the same twice on one line is one."""
    text = f"{TOKEN} {TOKEN}\nx\n{TOKEN}\n"
    assert [hit.line for hit in privacy.scan(text, "a.yaml", NO_ONE)] == [1, 3]


@pytest.mark.parametrize(
    "unit",
    ["a-", "sk-", "a.", "a://", "a://b:", "eyJ-", "wandb-", "hf_a-", "/", "\\", "%2Fhome", "00:", "aa-", "-----BEGIN "],
)
def test_no_text_takes_long_to_scan(unit: str) -> None:
    """A stranger's file of 256 KiB of any one thing is done in seconds at the very most."""
    before = time.process_time()
    privacy.scan(unit * (2**18 // len(unit)), "a.yaml", WHO)
    assert time.process_time() - before < 10
