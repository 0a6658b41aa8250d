"""Ask the API server for the user of a bearer token (authentication.k8s.io/v1, TokenReview)."""

from datetime import timedelta

import msgspec

from reporter.kube.client import RestClient
from reporter.kube.decoding import decode_json
from reporter.kube.errors import Unreachable


TOKEN_REVIEWS = ("authentication.k8s.io", "tokenreviews")
PATH = "/apis/authentication.k8s.io/v1/tokenreviews"
OPERATION = "review a token"


class UserInfo(msgspec.Struct, frozen=True):
    """A user as the API server knows it; *extra* is what its authenticators add."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}


class _Status(msgspec.Struct):
    authenticated: bool = False
    user: UserInfo = msgspec.field(default_factory=UserInfo)


class _TokenReview(msgspec.Struct):
    status: _Status


_DECODER = msgspec.json.Decoder(_TokenReview)


async def review_token(api: RestClient, token: str, *, time_limit: timedelta) -> UserInfo | None:
    """Return the user of a token; None if it has none. Raises KubeError without an answer."""
    response = await api.call(
        "POST",
        PATH,
        body={
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenReview",
            "spec": {"token": token},
        },
        timeout=time_limit,
        operation=OPERATION,
    )
    try:
        status = decode_json(_DECODER, response.body).status
    except msgspec.DecodeError as err:
        raise Unreachable(OPERATION, status=response.status, message=str(err)) from err
    return status.user if status.authenticated and status.user.username else None
