"""
Certificates and keys that a kubeconfig or a plugin gives as data, and not as files.

Python's ssl module reads a client's key from a file alone. A file with a private key would stay
after SIGKILL, so the data is in memory: a file without a name in any folder, for as long as it takes
to read it.
"""

import base64
import os
import ssl
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from reporter.settings.errors import ConfigurationError


AUTHORITY, CERTIFICATE, KEY = "certificate-authority", "client-certificate", "client-key"


class InlineTls(Struct, frozen=True):
    """The PEM data of authority, certificate and key; empty for what is in a file or not given."""

    authority: bytes = b""
    certificate: bytes = b""
    key: bytes = b""

    def __repr__(self) -> str:
        """Return a text without the key."""
        return "InlineTls()"

    @contextmanager
    def as_files(self) -> Iterator[tuple[str | None, str | None]]:
        """Yield the paths of certificate and key, None for what is not given; both end with the context."""
        with ExitStack() as files:
            certificate, key = (
                files.enter_context(_readable_file(data)) if data else None
                for data in (self.certificate, self.key)
            )
            yield certificate, key


def verifying_context(authority_file: str | None = None, authority: bytes = b"") -> ssl.SSLContext:
    """
    Return a context that trusts an authority, that of the system if none is given.

    It accepts the CA certificates that kubectl accepts. Python 3.13 sets VERIFY_X509_STRICT by default,
    which refuses a CA without key usage or key identifiers, as older clusters have it
    (kubernetes-client/python#2394). Chain, expiry and host name are verified as before. Raises OSError
    or ValueError for what is no certificate.
    """
    context = ssl.create_default_context(cafile=authority_file, cadata=authority.decode() or None)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def read_inline_tls(cluster: Mapping[str, Any], user: Mapping[str, Any]) -> InlineTls:
    """
    Return the fields of a kubeconfig that end in -data, decoded; empty for those it lacks.

    Raises ConfigurationError for a value that is not base64.
    """
    return InlineTls(
        authority=_decode(cluster, AUTHORITY),
        certificate=_decode(user, CERTIFICATE),
        key=_decode(user, KEY),
    )


def _data(name: str) -> str:
    return f"{name}-data"


def _decode(section: Mapping[str, Any], name: str) -> bytes:
    try:
        return base64.b64decode(section.get(_data(name)) or "")
    except (TypeError, ValueError) as err:
        raise ConfigurationError(f"kubeconfig: {_data(name)} is not base64") from err


@contextmanager
def _readable_file(data: bytes) -> Iterator[str]:
    """
    Yield the path of a file with this content: in memory, or else removed right after its use.
    """
    with ExitStack() as stack:
        path = _memory_file(data, stack)
        if path is None:
            file = stack.enter_context(tempfile.NamedTemporaryFile())
            file.write(data)
            file.flush()
            path = file.name
        yield path


def _memory_file(data: bytes, stack: ExitStack) -> str | None:
    """
    Return the path of an anonymous file (memfd_create(2)); None where there are none, or no /proc.
    """
    if not hasattr(os, "memfd_create"):
        return None
    try:
        file = stack.enter_context(os.fdopen(os.memfd_create("tls"), "wb"))
    except OSError:
        return None
    file.write(data)
    file.flush()
    path = Path(f"/proc/self/fd/{file.fileno()}")
    return str(path) if os.access(path, os.R_OK) else None
