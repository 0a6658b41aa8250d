"""
Which rights we have, asked of the API server itself, and a table of those that are missing.
"""

import asyncio
import json
import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum, unique

import msgspec

from reporter.kube.client.client import RestClient
from reporter.kube.wire.decoding import decode_json
from reporter.kube.wire.errors import KubeError


REVIEW_PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
MAX_CONCURRENT_REVIEWS = 8
REVIEW_TIMEOUT = timedelta(seconds=10)
TABLE_WIDTH = 100
COLUMN_GAP = "  "
TABLE_HEADER = ("MISSING", "ON", "BLINDS")
MAX_VERBS_WIDTH, MAX_TARGET_WIDTH = 15, 42
"""
The most that the first two columns take, so that the longest reason fits into the third.
"""


@dataclass(frozen=True, slots=True, order=True)
class Permission:
    """
    *resource* may name a subresource (``inferencesets/scale``); no *namespace* means all of them.
    """

    verb: str
    group: str
    resource: str
    namespace: str = ""
    name: str = ""

    @property
    def target(self) -> str:
        """
        As kubectl writes it: ``deployments.apps``, with name and namespace where it is limited.
        """
        plural = f"{self.resource}.{self.group}" if self.group else self.resource
        name = f" {self.name}" if self.name else ""
        return plural + name + (f" in {self.namespace}" if self.namespace else "")

    def __str__(self) -> str:
        return f"{self.verb} {self.target}"


@unique
class PermissionStatus(StrEnum):
    """
    A review that failed says nothing about the right.
    """

    GRANTED = "granted"
    MISSING = "missing"
    UNKNOWN = "unknown"


async def review_permissions(
    api: RestClient, rights: Iterable[Permission], *, time_limit: timedelta = REVIEW_TIMEOUT
) -> tuple[tuple[Permission, PermissionStatus], ...]:
    """
    In the order given, each right once. Raises nothing; what has no answer in time is unknown.
    """
    grants = dict.fromkeys(rights, PermissionStatus.UNKNOWN)
    room = asyncio.Semaphore(MAX_CONCURRENT_REVIEWS)

    async def ask(right: Permission) -> None:
        async with room:
            grants[right] = await _review_one(api, right)

    try:
        async with asyncio.timeout(time_limit.total_seconds()), asyncio.TaskGroup() as group:
            for right in grants:
                group.create_task(ask(right), name=f"review {right}")
    except TimeoutError:
        pass
    return tuple(grants.items())


def format_missing_permissions(
    grants: Iterable[tuple[Permission, PermissionStatus]],
    blinds: Mapping[Permission, Collection[str]],
) -> str:
    """
    The missing rights with the reasons that cannot be judged without them; empty if all are there.
    """
    reviewed = tuple(grants)
    rows = _permission_rows(
        (right for right, grant in reviewed if grant is PermissionStatus.MISSING), blinds
    )
    lines = _format_rows([TABLE_HEADER, *rows]) if rows else []
    unknown = sum(grant is PermissionStatus.UNKNOWN for _, grant in reviewed)
    if unknown:
        lines.append(f"{unknown} of {len(reviewed)} rights could not be checked.")
    return "\n".join(lines)


class _AccessReviewStatus(msgspec.Struct):
    allowed: bool = False


class _AccessReview(msgspec.Struct):
    status: _AccessReviewStatus


_REVIEW_DECODER = msgspec.json.Decoder(_AccessReview)


async def _review_one(api: RestClient, right: Permission) -> PermissionStatus:
    resource, _, subresource = right.resource.partition("/")
    attributes = {
        "verb": right.verb,
        "group": right.group,
        "resource": resource,
        "subresource": subresource,
        "namespace": right.namespace,
        "name": right.name,
    }
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    try:
        answer = await api.call(
            "POST",
            REVIEW_PATH,
            body=json.dumps(body).encode(),
            operation=f"review the right to {right}",
        )
        allowed = decode_json(_REVIEW_DECODER, answer.body).status.allowed
    except (KubeError, msgspec.DecodeError):
        return PermissionStatus.UNKNOWN
    return PermissionStatus.GRANTED if allowed else PermissionStatus.MISSING


def _permission_rows(
    missing: Iterable[Permission], blinds: Mapping[Permission, Collection[str]]
) -> list[tuple[str, ...]]:
    """
    One row for all verbs on the same things.
    """
    verbs: dict[str, list[str]] = defaultdict(list)
    reasons: dict[str, set[str]] = defaultdict(set)
    for right in missing:
        verbs[right.target].append(right.verb)
        reasons[right.target].update(blinds.get(right, ()))
    return [
        (", ".join(verbs[target]), target, ", ".join(sorted(reasons[target])) or "-")
        for target in sorted(verbs)
    ]


def _format_rows(rows: Sequence[tuple[str, ...]]) -> list[str]:
    verbs = min(max(len(row[0]) for row in rows), MAX_VERBS_WIDTH)
    target = min(max(len(row[1]) for row in rows), MAX_TARGET_WIDTH)
    widths = (verbs, target, TABLE_WIDTH - verbs - target - 2 * len(COLUMN_GAP))
    return [line for row in rows for line in _wrap_row(row, widths)]


def _wrap_row(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """
    The lines of one row; a cell that is too wide goes on below.
    """
    cells = [textwrap.wrap(text, width) for text, width in zip(row, widths, strict=True)]
    height = max(map(len, cells))
    padded = [cell + [""] * (height - len(cell)) for cell in cells]
    return [
        COLUMN_GAP.join(
            text.ljust(width) for text, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in zip(*padded, strict=True)
    ]
