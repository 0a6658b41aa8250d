"""Ask the API server whose a bearer token is, and what a user or this process may do."""

import asyncio
import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum, unique

import msgspec
from msgspec import Struct

from reporter.kube.client import RestClient
from reporter.kube.decoding import Json, decode_response
from reporter.kube.errors import KubeError


TOKEN_REVIEWS = ("authentication.k8s.io", "tokenreviews")
SUBJECT_ACCESS_REVIEWS = ("authorization.k8s.io", "subjectaccessreviews")
VERB = "get"
"""The verb that a rule for a path must allow. It decides for HEAD too, whose response shows less."""


class UserInfo(msgspec.Struct, frozen=True):
    """The user that a TokenReview names (status.user); *extra* is what its authenticators add."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}


class _Status(msgspec.Struct, rename="camel"):
    """The status of a TokenReview, or of a review of access with *allowed* and *denied*."""

    authenticated: bool = False
    user: UserInfo = msgspec.field(default_factory=UserInfo)
    allowed: bool = False
    denied: bool = False
    resource_rules: list[Json] = []


class _Review(msgspec.Struct):
    status: _Status


_DECODER = msgspec.json.Decoder(_Review)


async def review_token(api: RestClient, token: str, *, time_limit: timedelta) -> UserInfo | None:
    """Return the user of a bearer token; None for an invalid one. Raises KubeError if the review fails."""
    spec = {"token": token}
    status = await _review(api, "TokenReview", spec, time_limit, operation="review a token")
    return status.user if status.authenticated and status.user.username else None


async def may_get_path(
    api: RestClient, user: UserInfo, path: str, *, time_limit: timedelta
) -> bool:
    """
    Return whether rules for nonResourceURLs allow the user to get a path, such as ``/metrics``.

    Raises KubeError if the review fails.
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
    """
    Return whether a review of *kind*, such as SelfSubjectAccessReview, allows what its *spec* asks.

    *operation*: what is reviewed, for errors. Raises KubeError if the review fails.
    """
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
    return decode_response(_DECODER, response.body, operation).status


async def review_rules(
    api: RestClient, namespace: str, *, time_limit: timedelta
) -> tuple[bytes, ...]:
    """
    Return the rules by which this process may use resources in a namespace, in a stable order.

    Each rule is its JSON; those for the whole cluster are among them. Authorizers that know no rules,
    such as webhooks, leave theirs out (authorization/v1, SubjectRulesReviewStatus.incomplete), so this
    is no answer to whether something is allowed. Raises KubeError if the review fails.
    """
    spec, operation = {"namespace": namespace}, f"review rules in {namespace}"
    status = await _review(api, "SelfSubjectRulesReview", spec, time_limit, operation=operation)
    rules = (msgspec.json.encode(each, order="deterministic") for each in status.resource_rules)
    return tuple(sorted(rules))


MAX_CONCURRENT_REVIEWS = 8
REVIEW_TIMEOUT = timedelta(seconds=10)
TABLE_WIDTH = 100
COLUMN_GAP = "  "
TABLE_HEADER = ("MISSING", "ON", "UNKNOWN REASONS")
MAX_VERBS_WIDTH, MAX_TARGET_WIDTH = 15, 42
"""Maximum widths of the first two columns, so that the longest reason fits into the third."""


# --------------------------------------------------------------------
# Review our RBAC permissions with SelfSubjectAccessReviews, and format those that are missing.


class Permission(Struct, frozen=True, order=True):
    """
    One permission; *resource* may name a subresource (``inferencesets/scale``).

    Without *namespace* it is for all namespaces, without *name* for all objects.
    """

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""

    @property
    def group_resource(self) -> str:
        """
        The resource as errors name it: ``deployments.apps``, ``inferencesets.kaito.sh/scale``.
        """
        resource, slash, subresource = self.resource.partition("/")
        return resource + (f".{self.group}" if self.group else "") + slash + subresource

    @property
    def request_text(self) -> str:
        """
        The permission in the words of `Refused.missing_permission`, such as "list deployments.apps".

        It leaves out namespace and name.
        """
        return f"{self.verb} {self.group_resource}"

    @property
    def target(self) -> str:
        """
        The resource with its name and namespace if it has them, as "leases.coordination.k8s.io x in y".
        """
        name = f" {self.name}" if self.name else ""
        return self.group_resource + name + (f" in {self.namespace}" if self.namespace else "")

    def __str__(self) -> str:
        return f"{self.verb} {self.target}"


@unique
class PermissionStatus(StrEnum):
    """The result of a SelfSubjectAccessReview; UNKNOWN if the review had no answer."""

    GRANTED = "granted"
    MISSING = "missing"
    UNKNOWN = "unknown"


async def review_permissions(
    api: RestClient, permissions: Iterable[Permission], *, time_limit: timedelta = REVIEW_TIMEOUT
) -> tuple[tuple[Permission, PermissionStatus], ...]:
    """
    Review each permission once and return the results in the given order.

    Raises nothing: without a response in time the result is UNKNOWN.
    """
    statuses = dict.fromkeys(permissions, PermissionStatus.UNKNOWN)
    slots = asyncio.Semaphore(MAX_CONCURRENT_REVIEWS)

    async def review(permission: Permission) -> None:
        async with slots:
            statuses[permission] = await _review_one(api, permission)

    try:
        async with asyncio.timeout(time_limit.total_seconds()), asyncio.TaskGroup() as group:
            for permission in statuses:
                group.create_task(review(permission), name=f"review {permission}")
    except TimeoutError:
        pass
    return tuple(statuses.items())


def format_missing_permissions(
    statuses: Iterable[tuple[Permission, PermissionStatus]],
    reasons_by_permission: Mapping[Permission, Collection[str]],
) -> str:
    """
    Format a table of the missing permissions, with the reasons that stay Unknown without them.

    A last line counts those that could not be reviewed. Empty if all are granted.
    """
    reviewed = tuple(statuses)
    rows = _permission_rows(
        (permission for permission, status in reviewed if status is PermissionStatus.MISSING),
        reasons_by_permission,
    )
    lines = _format_rows([TABLE_HEADER, *rows]) if rows else []
    unknown = sum(status is PermissionStatus.UNKNOWN for _, status in reviewed)
    if unknown:
        lines.append(f"{unknown} of {len(reviewed)} permissions could not be checked.")
    return "\n".join(lines)


async def _review_one(api: RestClient, permission: Permission) -> PermissionStatus:
    resource, _, subresource = permission.resource.partition("/")
    attributes = {
        "verb": permission.verb,
        "group": permission.group,
        "resource": resource,
        "subresource": subresource,
        "namespace": permission.namespace,
        "name": permission.name,
    }
    spec, operation = {"resourceAttributes": attributes}, f"review permission {permission}"
    try:
        allowed = await review_access(
            api, "SelfSubjectAccessReview", spec, REVIEW_TIMEOUT, operation=operation
        )
    except KubeError:
        return PermissionStatus.UNKNOWN
    return PermissionStatus.GRANTED if allowed else PermissionStatus.MISSING


def _permission_rows(
    missing: Iterable[Permission], reasons_by_permission: Mapping[Permission, Collection[str]]
) -> list[tuple[str, ...]]:
    """Build one row for all verbs on the same target, in the given order."""
    verbs: dict[str, list[str]] = defaultdict(list)
    reasons: dict[str, set[str]] = defaultdict(set)
    for permission in missing:
        verbs[permission.target].append(permission.verb)
        reasons[permission.target].update(reasons_by_permission.get(permission, ()))
    return [
        (", ".join(verbs[target]), target, ", ".join(sorted(reasons[target])) or "-")
        for target in verbs
    ]


def _format_rows(rows: Sequence[tuple[str, ...]]) -> list[str]:
    verbs = min(max(len(row[0]) for row in rows), MAX_VERBS_WIDTH)
    target = min(max(len(row[1]) for row in rows), MAX_TARGET_WIDTH)
    widths = (verbs, target, TABLE_WIDTH - verbs - target - 2 * len(COLUMN_GAP))
    return [line for row in rows for line in _wrap_row(row, widths)]


def _wrap_row(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Format the lines of one row; a cell that is too wide continues on the next line."""
    cells = [textwrap.wrap(text, width) for text, width in zip(row, widths, strict=True)]
    height = max(map(len, cells))
    padded = [cell + [""] * (height - len(cell)) for cell in cells]
    return [
        COLUMN_GAP.join(
            text.ljust(width) for text, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in zip(*padded, strict=True)
    ]
