"""
The tokens of a kubeconfig's auth-provider oidc, which its identity provider renews.

Source: client-go, plugin/pkg/client/auth/oidc/oidc.go. A refresh token that the provider replaces is
kept nowhere: the kubeconfig is only read.
"""

import base64
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, TypeVar

import aiohttp
import msgspec

from reporter.kube.open_sockets import OpenSockets
from reporter.kube.plain_text import clean
from reporter.kube.response_body import BodyTooLargeError, read_body
from reporter.kube.tls import verifying_context
from reporter.settings.errors import ConfigurationError


MAX_ANSWER_BYTES = 2**20
REQUIRED = ("client-id", "idp-issuer-url", "refresh-token")

AnswerT = TypeVar("AnswerT")


class _Claims(msgspec.Struct):
    """The part of an id token that tells when it ends, in seconds of Unix time."""

    exp: Annotated[float, msgspec.Meta(gt=0, lt=2**40)]


class _Discovery(msgspec.Struct):
    """OpenID Connect Discovery 1.0, section 3."""

    token_endpoint: str


class _Tokens(msgspec.Struct):
    """OpenID Connect Core 1.0, section 12.2."""

    id_token: str


class OidcTokens:
    """
    The id tokens of one kubeconfig, each used until it ends: first the one in the file, then renewed ones.

    *stored*: the last one that was in the file.
    """

    def __init__(self) -> None:
        self.stored = ""

    async def next_token(self, provider: Mapping[str, Any], *, limit: timedelta) -> str:
        """
        Return a token that was not returned before.

        *provider*: the section auth-provider. *limit*: how long the identity provider may take. Raises
        ConfigurationError.
        """
        config = provider.get("config") or {}
        stored = str(config.get("id-token") or "").strip()
        if stored and stored != self.stored:
            self.stored = stored
            return stored
        missing = [name for name in REQUIRED if not config.get(name)]
        if missing:
            raise ConfigurationError(
                f"auth-provider oidc has no valid id-token, and to renew it no {', '.join(missing)}"
            )
        return await _renew(config, limit)


def expiry_of(token: str) -> datetime | None:
    """Return when a JSON web token ends (RFC 7519, section 4.1.4); None if it does not tell."""
    parts = token.split(".")
    if len(parts) != 3:  # noqa: PLR2004
        return None
    try:
        payload = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        return datetime.fromtimestamp(msgspec.json.decode(payload, type=_Claims).exp, UTC)
    except (ValueError, msgspec.MsgspecError):
        return None


async def _renew(config: Mapping[str, Any], limit: timedelta) -> str:
    issuer = str(config["idp-issuer-url"]).rstrip("/")
    client = (str(config["client-id"]), str(config.get("client-secret") or ""))
    authorization = {"Authorization": aiohttp.encode_basic_auth(*client)}
    refresh = {"grant_type": "refresh_token", "refresh_token": str(config["refresh-token"])}
    sockets = OpenSockets()
    try:
        async with aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=_tls_context(config), socket_factory=sockets.open),
            timeout=aiohttp.ClientTimeout(total=limit.total_seconds()),
            trust_env=True,
        ) as session:
            async with session.get(f"{issuer}/.well-known/openid-configuration") as answer:
                endpoint = (await _decode(answer, _Discovery)).token_endpoint
            async with session.post(
                endpoint, data=refresh, headers=authorization, allow_redirects=False
            ) as answer:
                return (await _decode(answer, _Tokens)).id_token
    except TimeoutError as err:
        raise ConfigurationError(f"{clean(issuer)} did not answer in time") from err
    except BodyTooLargeError as err:
        raise ConfigurationError(f"no token from {clean(issuer)}: an answer has {err}") from err
    except (aiohttp.ClientError, OSError, ValueError, msgspec.MsgspecError) as err:
        raise ConfigurationError(f"no token from {clean(issuer)}: {clean(str(err))}") from err
    finally:
        await sockets.close()


async def _decode(answer: aiohttp.ClientResponse, wanted: type[AnswerT]) -> AnswerT:
    """Raises ClientResponseError for a status that is no success, msgspec's for another content."""
    answer.raise_for_status()
    return msgspec.json.decode(await read_body(answer, MAX_ANSWER_BYTES), type=wanted)


def _tls_context(config: Mapping[str, Any]) -> ssl.SSLContext:
    """Return the context for the provider's own authority, else for those of the system."""
    data = base64.b64decode(str(config.get("idp-certificate-authority-data") or ""))
    file = config.get("idp-certificate-authority")
    return verifying_context(None if data else file, data)
