"""Which addresses may be trusted with code that every machine of a fleet executes."""

from __future__ import annotations

import ipaddress
import re

from capture.errors import CaptureError

ADDRESS = re.compile(r"(?:(?P<scheme>[a-z]+)://)?(?P<host>\[[0-9a-fA-F:.%]+\]|[^\s/:@\[\]]+):(?P<port>\d{1,5})/?")
CERTIFICATES = (
    "the certificates are those of dask's own configuration, distributed.comm.tls, in ~/.config/dask/*.yaml or as "
    "DASK_DISTRIBUTED__COMM__TLS__CA_FILE and __CLIENT__CERT, __CLIENT__KEY"
)


def checked(address: str, what: str = "--fleet") -> str:
    """Return the address with its scheme; raises CaptureError for one that is none, or is open beyond this machine.

    Whoever can talk to a scheduler can let every worker, and this machine, execute code. So beyond loopback only TLS
    with certificates on both sides will do.
    """
    match = ADDRESS.fullmatch(address)
    if match is None or int(match["port"]) > 65535:
        raise CaptureError(f"{what} {address}: not an address; give tls://HOST:PORT, or tcp://127.0.0.1:PORT")
    scheme = match["scheme"] or "tcp"
    if scheme == "tls" or (scheme == "tcp" and _is_loopback(match["host"])):
        return f"{scheme}://{match['host']}:{match['port']}"
    raise CaptureError(
        f"{what} {address}: whoever reaches it can execute code on the whole fleet; beyond loopback give "
        f"tls://{match['host']}:{match['port']}: {CERTIFICATES}"
    )


def _is_loopback(host: str) -> bool:
    """Tell whether a host is this machine by its very form; names other than `localhost` are not looked up."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
