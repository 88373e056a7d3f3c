"""What tells of a person or of one machine in a text."""

from __future__ import annotations

import re

from capture.record.privacy_rule import COMMON_NAMES, PrivacyRule, is_machine, is_mail, rule

_SEPARATOR = r"(?:[/\\]{1,8}|%2F|%5C)"
_NO_ONE = "|".join(map(re.escape, ["<user>", "shared", *sorted(COMMON_NAMES)]))
_TLD = (
    "com org net edu gov mil int info io dev app ai cloud email tech science software systems institute university"
    " academy"
)
_NO_TLD = "py sh md so"  # ends of files
PERSONAL: tuple[PrivacyRule, ...] = (
    rule(
        "personal",
        "home folder",
        rf"(?i){_SEPARATOR}(?:home|Users){_SEPARATOR}(?!(?:{_NO_ONE})(?![\w-]|\.\w))(?P<value>[\w.-]+)",
        "home users",
        ("/home/maria/x", "/Users/maria", "C:\\Users\\maria", "%2Fhome%2Fmaria", "-I/home/maria"),
        ("/home/user/x", "/home/runner/work", "/Users/Shared/x", "/home/", "/home/<user>", "see /homework/maria"),
    ),
    rule(
        "personal",
        "MAC address",
        r"(?i)(?<![\w:])(?:(?:[0-9a-f]{2}:){5}|(?=[0-9-]{0,16}[a-f])(?:[0-9a-f]{2}-){5})[0-9a-f]{2}(?![\w:])",
        ": -",
        ("00:1b:63:84:45:e6", "00-1B-63-84-45-E6"),
        ("12:30:45", "aa:bb:cc", "2026-11-29-10-11-12", "20-26-11-29-10-11", "1:59:59:59:59:59:59"),
    ),
    rule(
        "personal",
        "GPU UUID",
        r"(?i)\b(?:GPU|MIG)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b",
        "gpu- mig-",
        ("GPU-1b2c3d4e-0000-1111-2222-0123456789ab",),
        ("GPU-0", "41c0a5fe-0000-1111-2222-0123456789ab"),
    ),
    rule(
        "personal",
        "PCI address",
        r"(?i)\b[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]\b(?!\s{0,2}(?:[mun\u00b5\u03bc]?s|sec|min|h)\b)",
        ":",
        ("00000000:3B:00.0", "0000:03:00.1"),
        ("1234:56:78.1 ms", "1234:56:12.1 ms", "12:34.5", "2026:11:29.1"),
    ),
    rule(
        "personal",
        "network address",
        r"(?<![\w.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w-]|\.\w)",
        ".",
        (
            "[c10d] listening on 10.41.8.23:29500",
            "inet 172.20.3.9/16",
            "192.168.7.44",
            "via ::ffff:10.41.8.23",
            "server at 8.8.4.4",
            "20.51.3.7:443",
            "addr=169.254.7.1",
            "85.214.3.9",
        ),
        (
            "127.0.0.1:29500",
            "0.0.0.0",
            "255.255.255.0",
            "192.0.2.7",
            "198.51.100.9:80",
            "203.0.113.5",
            "2.13.0.1",
            "torch 2.13.0.1",
            "1.0.0.0",
            "nvidia-curand-cu12==10.3.9.90",
            "nvidia-curand-cu12: 10.3.9.90",
            "cudnn 9.10.2.21",
            "version 10.1.2.3",
            "v10.2.0.5",
            "300.1.2.3",
            "1.2.3.4.5",
            "10.1.2.3-beta",
        ),
        is_machine,
    ),
    rule(
        "personal",
        "network address",
        r"(?i)(?<![\w:.])(?:[0-9a-f]{1,4}:|:){2,7}(?::|[0-9a-f]{1,4})(?![\w:])",
        ":",
        (
            "[fe80::1c2d:3eff:fe4f:5a6b]:29500",
            "fd12:3456:789a::1",
            "inet6 2a02:8109:9c40:1b2c:3d4e:5f60:7182:93a4/64",
            "fe80::1%eth0",
        ),
        (
            "::1",
            "[::]:29500",
            "2001:db8::17",
            "::ffff:127.0.0.1",
            "x[::2]",
            "x[1::3, ::2]",
            "std::vector",
            "c10::d",
            "12:30:45",
            "a[2024::3]",
            "dead::beef",
            "1:2:3:4:5:6:7",
        ),
        is_machine,
    ),
    rule(
        "personal",
        "mail address",
        rf"(?<![\w.+-])(?P<local>[A-Za-z0-9][\w.+-]{{0,63}})@(?P<host>(?:[A-Za-z0-9-]{{1,63}}\.){{0,4}}(?=[0-9-]{{0,62}}[A-Za-z])[A-Za-z0-9-]{{1,63}}"
        rf"\.(?:{_TLD.replace(' ', '|')}|(?!(?:{_NO_TLD.replace(' ', '|')})\b)[a-z]{{2}}))(?![\w(\[@-]|\.\w)",
        "@",
        ("maria.perez@uni-bonn.de", "by <maria@lab.institute>", "mailto:maria@perez.io", "maria+x@mail.perez.co.uk"),
        (
            "me@example.com",
            "x@host.test",
            "git@github.com:a/b",
            "noreply@github.com",
            "q@k.T",
            "a@b",
            "x@w.to(d)",
            "x@self.weight",
            "q@k.mT",
            "@torch.compile",
            "numpy@2.1.0.dev",
            "actions/checkout@v4",
            "model@v2.py",
            "x@w.view(3)",
            "ssh://m@host.org/x",
        ),
        is_mail,
    ),
    rule(
        "personal",
        "SSH key",
        r"\b(?:ssh-(?:rsa|ed25519|dss)|ecdsa-sha2-[\w-]{4,20}|sk-ssh-ed25519@openssh\.com)\s{1,4}AAAA[\w+/=]{16,}(?:\s\S{1,80}@\S{1,80})?",
        "aaaa",
        ("ssh-rsa " + "AAAAB3NzaC1yc2EAAAADAQAB" + " maria@box",),
        ("ssh-rsa keys", "ssh-ed25519 AAAA"),
    ),
)
