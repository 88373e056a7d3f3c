"""Secrets and personal names refuse a write; the found value is never part of the message."""

from __future__ import annotations

import time

import pytest
from harness.handbooks import record

from capture import store
from capture.errors import EXIT_PRIVACY, PrivacyRefused
from capture.record import privacy
from capture.record.privacy import Identity
from capture.record.privacy_rule import PrivacyRule

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


# Made up for the tests alone, and in no table of rules: others of each kind, as programs print them.
OTHER_SECRETS = [
    "export STRIPE=rk" + "_test_51Hx" + "Qw3Er5Ty7",
    "dsn: https://" + "9f8e7d6c5b4a39281706f5e4d3c2b1a0@o77.ingest.de.sentry.io/4",
    "TWILIO: SK" + "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "bot" + "7712345678" + ":AAH" + "pQ7rS9tU1vW3xY5zA7bC9dE1fG3hI5j",
    "DefaultEndpointsProtocol=https;AccountName=m;AccountKey=" + "Zm9v/YmFy+cXV4" + "Zz09==;EndpointSuffix=x",
    "mongodb+srv://svc:" + "p4ss-w0rd@cluster0.ab1cd.mongodb.net/db",
    "https://x-access-token:" + "9f8e7d6c@github.com/a/b",
    "https://" + "9f8e7d6c5b4a3928@raw.host.dev/file",
    "pip install --index-url https://" + "q1w2e3r4t5y6u7i8@pypi.corp.dev/simple",
    "curl -H 'Authorization: Basic " + "dXNlcjpwYXNz" + "d29yZA=='", "Set-Cookie: sid=" + "9f8e7d6c5b4a; Path=/",
    "machine api.host.dev\n  login me\n  password " + "hunter2", "-----BEGIN EC PRIVATE " + "KEY-----",
    "-----BEGIN OPENSSH PRIVATE " + "KEY-----", "COHERE_API_KEY=" + "q1W2e3R4t5Y6",
    "mistral_api_key: " + "q1W2e3R4t5Y6u7I8",
    "VAULT_TOKEN=hvs" + ".AAAAAQJ1xYz9", "dop" + "_v1_9f8e7d6c5b4a", "r8" + "_Qw3Er5Ty7Ui9Op1As3Df",
    "gsk" + "_Qw3Er5Ty7Ui9Op1As3Df",
    "dapi" + "9f8e7d6c5b4a39281706", "SG" + ".q1W2e3R4t5Y6u7I8o9P0a1.S2d3F4g5H6j7K8l9",
    "sig=" + "q1W2e3R4%2Ft5Y6u7I8%3D&se=2026",
    "glpat" + "-q1W2e3R4t5Y6", "https://discordapp.com/api/v10/" + "webhooks/991/q1W2e3R4t5Y6",
    "key-" + "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "https://hooks.slack.com/" + "workflows/T1/A2/3/q1W2e3R4",
    "https://contoso.webhook.office.com/" + "webhookb2/9f8e@7d6c/IncomingWebhook/5b",
    '"private_key_id": "' + "9f8e7d6c5b4a39281706", "FLY: FlyV1 fm2" + "_lJPE9f8e7d6c", "ya29" + ".A0ARrdaM9f8e",
    "nvapi" + "-q1W2e3R4_t5Y6",
    "PGPASS postgres://:" + "w0rd@db.host.dev/x", "hf" + "_qWeRtYuIoPaSdFgHjKlZxCvBnMqWeRtYuI", "hf" + "_qW3rT9…",
    "ghu" + "_q1W2e3R4t5",
    "dckr" + "_pat_q1W2-e3R4", "lin" + "_api_q1W2e3R4", "sk" + "-svcacct-q1W2e3R4t5", "sk" + "_live_51q1W2e3R4",
    "hf" + "_q1W2\u200be3R4t5Y6u7", "gh\u2060p" + "_q1W2e3R4t5", "sk_li\ufe0fve" + "_51q1W2e3R4",
    "nv\u00adapi" + "-q1W2e3R4t5Y6",
    r"hf" + r"_q1\u200bW2e3R4t5Y6u7", r"dckr_p\x00at" + "_q1W2e3R4t5", 'password = "correct-horse-battery"',
    "passwd: tr0ub4dor",
]  # fmt: skip
OTHER_PERSONAL = [
    "master 10.24.7.19, port 29500", "eth0: inet 172.31.255.9 netmask 255.255.240.0", "NCCL via 100.64.3.8<45123>",
    "[10.1.2.3]:22",
    "gateway=192.168.0.1", "peer 5.9.77.3", "tcp://8.26.56.26:8786",
    "connect to [fe80::d1:3eff:fe4f:5a6b%eno1]:29500 failed",
    "inet6 2001:41d0:8:3a1::17/64", "fdaa:0:12:a7b::3", "from jonas.meier@fz-lab.de", "Author: J. M. <jm@perez.co.uk>",
    "ssh-ed25519 " + "AAAAC3NzaC1lZDI1NTE5AAAAIK" + "q1 jonas@gx17", "0000:17:1f.6", "/Users/jonas/Library",
    "ether 3c:22:fb:9a:01:7e",
]  # fmt: skip
OTHER_HARMLESS = [
    "y = q@k.mT", "z = (a@b).sum()", "x@w.real", "@functools.cache", "loss@5.0",
    "python -m pip install torch==2.13.0.1", "libcudart 12.8.93.1",
    "cudnn-9.10.2.21", "nvidia-cufile-cu12 1.13.1.3", "nvidia-curand-cu12 10.3.9.90", "Windows 10.0.26100.1",
    "section 3.1.4.2",
    "a[::2], b[1:10:2], c[..., ::3]", "torch::jit::script", "at::Tensor", "c10::cuda", "10:15:30", "1:02:03:04",
    "epoch 3: 12:34:56.789",
    "tensor([0.1234, 0.5678])",
    "sha256:" + "9f8e7d6c5b4a39281706f5e4d3c2b1a0" * 2, "content_sha256: " + "9f8e7d6c" * 8, "127.0.0.53:53", "::1",
    "http://[::1]:8000", "http://localhost:8000", "192.0.2.55", "2001:db8:7::1", "me@example.net", "root@localhost",
    "git@gitlab.com:a/b.git",
    "hf_BertForMaskedLM", "hf_MistralForSequenceClassification", "sk-learn-intelex-2025.1.0",
    "api_key = getenv('X_KEY')", "token: [CLS]",
    "access_token = tokenizer.decode(ids)", "secret = torch.tensor(3.14159)", "password = input('password: ')",
    "auth_token: AuthTokenConfig",
    "hub_token=args.hub_token", "SG.forward_hidden_states", "sig=signature_of_function", "key-value-cache",
    "the secret: nothing happens",
    "1234:56:78.1 ms", "0001:02:03.4 s", "login to continue", "https://docs.pytorch.org/docs/2.13/x.html#a:b@c",
    "eyJ", "AKIA", "bearer bonds",
    "https://gitlab.com/some-user-name/project@main", "cookie: yes", "Basic usage: authorization", "dapi", "ya29",
    "machine learning login",
    "0.0.0.0:8786", "255.255.255.255", "224.0.0.1", "aten::mm", "fp8::e4m3", "MIG 1g.10gb",
    "uuid 9f8e7d6c-5b4a-3928-1706-f5e4d3c2b1a0",
]  # fmt: skip


@pytest.mark.parametrize("rule", privacy.RULES, ids=lambda rule: rule.name)
def test_each_rule_finds_and_leaves_what_its_row_says(rule: PrivacyRule) -> None:
    """The row of a rule is its specification: its examples are found under its name, and the others by no rule."""
    for text in rule.finds:
        hits = privacy.scan(f"ok\nusing {text} now\n", "a.yaml", NO_ONE)
        assert any(hit.message.startswith(f"holds a {rule.name};") and hit.line == 2 for hit in hits), text
        assert {hit.rule for hit in hits} == {rule.kind}, text
    for text in rule.leaves:
        assert privacy.scan(f"using {text} now\n", "a.yaml", NO_ONE) == [], text


@pytest.mark.parametrize("text", OTHER_SECRETS)
def test_secrets_of_many_services_are_found(text: str) -> None:
    """Also parts of them, and those that a character which nobody sees breaks up."""
    assert "secret" in {hit.rule for hit in privacy.scan(f"{text}\n", "a.yaml", NO_ONE)}


@pytest.mark.parametrize("text", OTHER_PERSONAL)
def test_what_tells_of_a_machine_or_a_person_is_found(text: str) -> None:
    """priv-network-address: addresses of machines, of people and of devices."""
    assert {hit.rule for hit in privacy.scan(f"{text}\n", "a.yaml", NO_ONE)} == {"personal"}


@pytest.mark.parametrize("text", OTHER_HARMLESS)
def test_code_and_results_are_let_through(text: str) -> None:
    """Versions, slices, matrix products, loopback, documentation's own addresses, names that read like keys."""
    assert privacy.scan(f"{text}\n", "a.yaml", privacy.identity("h1", "max")) == []


@pytest.mark.parametrize(
    "text", [*OTHER_SECRETS, *OTHER_PERSONAL, *(text for rule in privacy.RULES for text in rule.finds)]
)
def test_what_is_shown_holds_nothing_that_would_be_found(text: str) -> None:
    """A mark stands in its place, and the rest of the text can be read; what no mark can replace is withheld."""
    shown = privacy.shown(f"before it {text}\nafter it")
    assert privacy.scan(shown, "a.yaml", NO_ONE) == []
    assert shown.startswith("<not shown: ") or (shown.startswith("before it ") and "<" in shown)


def test_what_is_harmless_is_shown_as_it_is() -> None:
    """Nothing is changed in a text in which nothing is found; nor in data."""
    text = "\n".join(OTHER_HARMLESS)
    assert privacy.shown(text) == text
    item = record("a/b")
    assert privacy.shown_in(item) == item


def test_every_text_of_a_record_is_shown_without_what_it_must_not_hold() -> None:
    """In the output, in tables and in names; and the names of this machine where they are known."""
    item = record("a/b", stdout=f"token {TOKEN}\nsum 3\n", packages={"x": TOKEN}, upstream={TOKEN: "41c0"})
    shown = privacy.shown_in(item)
    assert shown.stdout == "token <Hugging Face token>\nsum 3\n"
    assert TOKEN[:9] not in repr(shown)
    assert privacy.shown("on maria-workstation", WHO) == "on <node or user name of this machine>"
    assert (
        privacy.shown("-----BEGIN PRIVATE " + "KEY-----\nMIIEvQ\nIBADAN\n-----END PRIVATE KEY-----\n")
        == "<private key>"
    )
    assert privacy.shown("/home/maria/x", kinds=("secret",)) == "/home/maria/x"


SHORT = privacy.identity("gx17.cluster.local", "sam")


@pytest.mark.parametrize(
    "text",
    ["/scratch/sam/x", "/work/2026/sam", r"D:\\data\\sam\\x", "%2Fscratch%2Fsam%2Fx", "sam@gx17:~$", "sam@box",
     "x@gx17 ", "user=sam", '"username": "Sam"', "LOGNAME='sam'", "nodename='gx17'",
     "hostname: gx17", "gx17:~ $", "on gx17.cluster.local"],
)  # fmt: skip
def test_names_of_few_letters_are_found_where_they_can_be_nothing_else(text: str) -> None:
    """As a part of an absolute path, beside an @, in a prompt, and behind such words as `user=`."""
    assert [hit.rule for hit in privacy.scan(text, "a.yaml", SHORT)] == ["personal"]


@pytest.mark.parametrize(
    "text",
    [
        "sam",
        "min/sam/max",
        "sam.py",
        "/opt/sample/x",
        "same@x",
        "/samples/x",
        "user=samuel",
        "GX17",
        "Sam's",
        "x/sam",
        "gx17x",
    ],
)
def test_names_of_few_letters_are_words_elsewhere(text: str) -> None:
    """`max`, `ann` and `dim` are words of every second lesson."""
    assert privacy.scan(text, "a.yaml", SHORT) == []


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


@pytest.mark.parametrize("rule", privacy.RULES, ids=lambda rule: rule.name)
def test_no_pattern_takes_long(rule: PrivacyRule) -> None:
    """64 KiB of a rule's own marks, of the beginnings of what it finds, or of letters behind one, end in seconds."""
    before = time.process_time()
    for text in (*rule.marks[:4], *rule.finds[:3], *(text[: len(text) // 2] for text in rule.finds[:3])):
        for hostile in (
            text * (2**16 // len(text)),
            text + "a" * 2**16,
            text + "a1." * 2**14,
            text + " " * 2**16,
            f"{text}/:@" * 2**12,
        ):
            for _ in rule.pattern.finditer(hostile):
                pass
    assert time.process_time() - before < 20
