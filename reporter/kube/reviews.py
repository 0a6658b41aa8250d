"""Ask the API server whose a bearer token is, and what a user or this process may do."""

from datetime import timedelta

import msgspec

from reporter.kube.client import RestClient
from reporter.kube.decoding import Json, decode_json
from reporter.kube.errors import Unreachable


TOKEN_REVIEWS = ("authentication.k8s.io", "tokenreviews")
SUBJECT_ACCESS_REVIEWS = ("authorization.k8s.io", "subjectaccessreviews")
VERB = "get"
"""The verb of rules for a path. It stands for HEAD too, which shows less."""


class UserInfo(msgspec.Struct, frozen=True):
    """A user as the API server knows it; *extra* is what its authenticators add."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}


class _Status(msgspec.Struct):
    """That of a TokenReview, or *allowed* and *denied* of a review of access."""

    authenticated: bool = False
    user: UserInfo = msgspec.field(default_factory=UserInfo)
    allowed: bool = False
    denied: bool = False


class _Review(msgspec.Struct):
    status: _Status


_DECODER = msgspec.json.Decoder(_Review)


async def review_token(api: RestClient, token: str, *, time_limit: timedelta) -> UserInfo | None:
    """Return the user of a token; None if it has none. Raises KubeError without an answer."""
    spec = {"token": token}
    status = await _review(api, "TokenReview", spec, time_limit, operation="review a token")
    return status.user if status.authenticated and status.user.username else None


async def may_get_path(
    api: RestClient, user: UserInfo, path: str, *, time_limit: timedelta
) -> bool:
    """
    Return whether rules allow the user this path (nonResourceURLs). Raises KubeError without an answer.
    """
    spec = {
        "user": user.username,
        "uid": user.uid,
        "groups": list(user.groups),
        "extra": {name: list(values) for name, values in user.extra.items()},
        "nonResourceAttributes": {"path": path, "verb": VERB},
    }
    return await review_access(
        api, "SubjectAccessReview", spec, time_limit, operation="review the access of a user"
    )


async def review_access(
    api: RestClient, kind: str, spec: Json, time_limit: timedelta, *, operation: str
) -> bool:
    """Return the answer to a review of this kind. Raises KubeError without one."""
    status = await _review(api, kind, spec, time_limit, operation=operation)
    return status.allowed and not status.denied


async def _review(
    api: RestClient,
    kind: str,
    spec: Json,
    time_limit: timedelta,
    *,
    operation: str,
) -> _Status:
    group = "authentication.k8s.io" if kind == "TokenReview" else "authorization.k8s.io"
    response = await api.call(
        "POST",
        f"/apis/{group}/v1/{kind.lower()}s",
        body={"apiVersion": f"{group}/v1", "kind": kind, "spec": spec},
        timeout=time_limit,
        operation=operation,
    )
    try:
        return decode_json(_DECODER, response.body).status
    except msgspec.DecodeError as err:
        raise Unreachable(operation, status=response.status, message=str(err)) from err
