"""
The headers and the TLS context of queries, read again from their files, which may be renewed.
"""

import re
import ssl
from collections.abc import Mapping
from pathlib import Path

import yaml

from reporter.catalogue.yaml.regular_file import read_regular_file
from reporter.kube.auth.token_file import read_token
from reporter.settings.groups.hub import HubSettings


HEADER_NAME = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
"""The name of a header (RFC 9110, 5.6.2)."""

RESERVED = frozenset({"content-length", "content-type", "host", "transfer-encoding", "connection"})
FILE_LIMIT = 2**16


class CannotRead(Exception):
    """A file of credentials cannot be used; the text names it, and never its content."""


class QueryCredentials:
    def __init__(self, settings: HubSettings) -> None:
        self._token_file = settings.hub_token_file
        self._headers_file = settings.hub_headers_file
        self._ca_file = settings.hub_ca_file
        self._tls: tuple[tuple[int, int], ssl.SSLContext] | None = None

    def headers(self) -> Mapping[str, str]:
        """Return the headers to send. Raises CannotRead."""
        found = dict(read_headers(self._headers_file)) if self._headers_file is not None else {}
        if self._token_file is None:
            return found
        if "authorization" in {name.lower() for name in found}:
            raise CannotRead(
                f"{self._headers_file} and the token file both give Authorization; leave one out"
            )
        token = read_token(self._token_file)
        if token is None:
            raise CannotRead(f"{self._token_file} holds no token")
        return found | {"Authorization": f"Bearer {token}"}

    def tls(self) -> ssl.SSLContext:
        """Return the context, the same until the file changes. Raises CannotRead."""
        try:
            if self._ca_file is None:
                version = (0, 0)
            else:
                stat = self._ca_file.stat()
                version = (stat.st_mtime_ns, stat.st_size)
            if self._tls is None or self._tls[0] != version:
                context = ssl.create_default_context(
                    cafile=str(self._ca_file) if self._ca_file is not None else None
                )
                # As towards an API server: Python 3.13 would refuse authorities that others accept.
                context.verify_flags &= ~ssl.VERIFY_X509_STRICT
                self._tls = version, context
        except (OSError, ssl.SSLError) as err:
            raise CannotRead(f"{self._ca_file} holds no certificates: {err}") from err
        return self._tls[1]


def read_headers(path: Path) -> Mapping[str, str]:
    """Return the headers of a YAML file. Raises CannotRead."""
    try:
        content = read_regular_file(path, FILE_LIMIT + 1)
        if len(content) > FILE_LIMIT:
            raise CannotRead(f"{path} has more than {FILE_LIMIT} bytes")
        found = yaml.safe_load(content.decode("utf-8"))
    except (OSError, UnicodeDecodeError) as err:
        raise CannotRead(f"{path} cannot be read: {err}") from err
    except yaml.YAMLError as err:
        raise CannotRead(f"{path} is no YAML") from err
    headers = {} if found is None else found
    if not isinstance(headers, dict) or not all(_is_header(*each) for each in headers.items()):
        raise CannotRead(f"{path} must have lines such as X-Scope-OrgID: tenant")
    return {name: str(text) for name, text in headers.items()}


def _is_header(name: object, text: object) -> bool:
    return (
        isinstance(name, str)
        and isinstance(text, str | int)
        and not isinstance(text, bool)
        and re.fullmatch(HEADER_NAME, name) is not None
        and name.lower() not in RESERVED
        and str(text).isprintable()
    )
