"""
Show the status only to users whom the API server authorizes.

A request has a bearer token of the cluster. A TokenReview finds its user, and a
SubjectAccessReview decides whether RBAC rules with nonResourceURLs allow that user to get the
path, as in kube-rbac-proxy and in the metrics filter of controller-runtime (pkg/metrics/filters).
Without an answer of the API server nothing is shown.
"""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Hashable, Mapping
from datetime import timedelta
from enum import Enum, unique
from functools import partial
from http import HTTPStatus
from types import MappingProxyType
from typing import TypeVar

from aiohttp import hdrs
from aiohttp.web_response import Response, StreamResponse

from reporter.kube.access_review import VERB, UserInfo, may_get_path, review_token
from reporter.kube.client import RestClient
from reporter.kube.errors import KubeError
from reporter.model.status_document import SCHEMA_VERSION, StatusError
from reporter.server.decision_cache import DecisionCache
from reporter.server.responses import error_response
from reporter.server.routes import Handler, RoutedRequest
from reporter.settings import StatusAuthorization


SCHEME = "bearer"
ALLOWED_TIME = timedelta(seconds=30)
REFUSED_TIME = timedelta(seconds=5)
"""
The time for which an answer counts. A revoked token or rule ends within the first time; a new rule counts
after the second one.
"""

REVIEW_TIMEOUT = timedelta(seconds=5)
MAX_CONCURRENT_REVIEWS = 8
RETRY_AFTER_SECONDS = 5

logger = logging.getLogger(__name__)

V = TypeVar("V")


@unique
class Access(Enum):
    """The answer to a reader. UNKNOWN_USER: no token, or one without a user."""

    ALLOWED = HTTPStatus.OK
    UNKNOWN_USER = HTTPStatus.UNAUTHORIZED
    FORBIDDEN = HTTPStatus.FORBIDDEN


NO_TOKEN = StatusError(
    schema=SCHEMA_VERSION,
    error="the status is shown to users of the cluster alone, and this request has no token of one",
    remedy="Send Authorization: Bearer, with the token of a user or of a service account, as kubectl"
    " create token prints one. The API server's proxies do not pass tokens on: use kubectl"
    " port-forward.",
)
NOT_REVIEWED = StatusError(
    schema=SCHEMA_VERSION,
    error="the API server did not say whether this may be shown, so it is not",
    remedy="Ask again later. The log of this process says why; it needs to create tokenreviews and"
    " subjectaccessreviews.",
)
HEADERS: Mapping[HTTPStatus, Mapping[str, str]] = MappingProxyType(
    {
        HTTPStatus.UNAUTHORIZED: {hdrs.WWW_AUTHENTICATE: 'Bearer realm="status"'},
        HTTPStatus.SERVICE_UNAVAILABLE: {hdrs.RETRY_AFTER: str(RETRY_AFTER_SECONDS)},
    }
)


class StatusAuthorizer:
    """
    Asks the API server, and keeps its answers for a short time.

    *seconds*: a monotonic clock.
    """

    def __init__(self, api: RestClient, seconds: Callable[[], float]) -> None:
        self._api, self._seconds = api, seconds
        self._users: DecisionCache[UserInfo | None] = DecisionCache()
        self._allowed: DecisionCache[bool] = DecisionCache()
        self._slots = asyncio.Semaphore(MAX_CONCURRENT_REVIEWS)
        self._last_error = ""

    async def decide(self, token: str, path: str) -> Access:
        """
        Return whether the path may be shown to the owner of a token. Raises KubeError without an answer.
        """
        if not token:
            return Access.UNKNOWN_USER
        # The token itself is not kept in memory.
        key = hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
        try:
            user = await self._find_user(key, token)
            if user is None:
                return Access.UNKNOWN_USER
            is_allowed = await self._is_allowed(key, user, path)
        except KubeError as err:
            self._log(err)
            raise
        self._last_error = ""
        return Access.ALLOWED if is_allowed else Access.FORBIDDEN

    async def _find_user(self, key: bytes, token: str) -> UserInfo | None:
        review = partial(review_token, self._api, token, time_limit=REVIEW_TIMEOUT)
        return await self._find(self._users, key, review)

    async def _is_allowed(self, key: bytes, user: UserInfo, path: str) -> bool:
        review = partial(may_get_path, self._api, user, path, time_limit=REVIEW_TIMEOUT)
        return await self._find(self._allowed, (key, path), review)

    async def _find(
        self, cache: DecisionCache[V], key: Hashable, review: Callable[[], Awaitable[V]]
    ) -> V:
        """Return the answer that is kept, or that of a review; no user and False refuse."""
        kept = cache.find(key, now=self._seconds())
        if kept is not None:
            return kept.value
        async with self._slots:
            # While this one waited, another request may have had the answer.
            kept = cache.find(key, now=self._seconds())
            if kept is not None:
                return kept.value
            found = await review()
            time = ALLOWED_TIME if found else REFUSED_TIME
            cache.keep(key, found, now=self._seconds(), time=time)
            return found

    def _log(self, err: KubeError) -> None:
        """Log why nothing is shown, once until an answer comes."""
        if str(err) != self._last_error:
            self._last_error = str(err)
            logger.warning("the status is shown to nobody: %s", err)

    def guard(self, show: Handler) -> Handler:
        """
        Return a handler that calls *show* only for users who may get its path.

        Others get 401 without a user, 403 without the permission, and 503 if the API server gives no
        answer.
        """

        async def show_authorized(request: RoutedRequest) -> StreamResponse:
            try:
                access = await self.decide(bearer_token(request), request.served_path)
            except KubeError:
                return _refusal(HTTPStatus.SERVICE_UNAVAILABLE, NOT_REVIEWED)
            match access:
                case Access.ALLOWED:
                    return await show(request)
                case Access.UNKNOWN_USER:
                    return _refusal(HTTPStatus.UNAUTHORIZED, NO_TOKEN)
                case Access.FORBIDDEN:
                    return _refusal(HTTPStatus.FORBIDDEN, _forbidden(request.served_path))

        return show_authorized


def make_guard(
    authorization: StatusAuthorization, api: RestClient, seconds: Callable[[], float]
) -> Callable[[Handler], Handler]:
    """
    Return the function that wraps each handler of the status with a check of who asks.

    With NONE it changes nothing; with KUBERNETES the API server reviews the token of each request.
    """
    match authorization:
        case StatusAuthorization.NONE:
            return lambda show: show
        case StatusAuthorization.KUBERNETES:
            return StatusAuthorizer(api, seconds).guard


def bearer_token(request: RoutedRequest) -> str:
    """Return the token of a request; empty without one (RFC 6750, section 2.1)."""
    scheme, _, token = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
    return token.strip() if scheme.lower() == SCHEME else ""


def _forbidden(path: str) -> StatusError:
    return StatusError(
        schema=SCHEMA_VERSION,
        error=f"the user of this token may not {VERB} {path}",
        remedy="Bind a ClusterRole to the user that has a rule with this verb and nonResourceURLs with"
        f" this path; kubectl auth can-i {VERB} {path} --as=USER shows whether it works.",
    )


def _refusal(status: HTTPStatus, why: StatusError) -> Response:
    return error_response(status, why, {hdrs.CACHE_CONTROL: "no-store", **HEADERS.get(status, {})})
