"""Beyond loopback a fleet speaks TLS, with the certificates of dask's own configuration."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from harness.fleets import fleet
from harness.project import Project

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("openssl"), reason="makes its certificate with openssl"),
]


def certificate(folder: Path) -> dict[str, str]:
    """Make a certificate and return dask's configuration, as variables, that uses it on every side."""
    key, file = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=fleet",
         "-keyout", str(key), "-out", str(file)],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    sides = ("CLIENT", "SCHEDULER", "WORKER")
    found = {f"DASK_DISTRIBUTED__COMM__TLS__{side}__KEY": str(key) for side in sides}
    found |= {f"DASK_DISTRIBUTED__COMM__TLS__{side}__CERT": str(file) for side in sides}
    return found | {"DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(file)}


def test_a_fleet_over_tls(tmp_path: Path) -> None:
    """With certificates it captures; without them the message says where they belong."""
    settings = certificate(tmp_path)
    project = Project(tmp_path / "book")
    project.snippet("demo/one", "print(1)")
    with fleet(tmp_path, "--protocol", "tls", env=settings) as found:
        found.worker("epyc-avx2", env=settings)
        found.ready(1)
        assert found.address.startswith("tls://")
        result = project.run("--fleet", found.address, env=settings)
        assert result.code == 0, result.text
        assert project.records("epyc-avx2") == ["demo/one"]
        result = project.run("--fleet", found.address)
        assert (result.code, result.untouched) == (2, True)
        assert "distributed.comm.tls" in result.err and "Traceback" not in result.err
