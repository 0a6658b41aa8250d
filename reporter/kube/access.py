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

from reporter.kube.client import Api
from reporter.kube.decoding import decoded
from reporter.kube.errors import KubeError


PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
AT_ONCE = 8
WITHIN = timedelta(seconds=10)
WIDTH = 100
GAP = "  "
HEADER = ("MISSING", "ON", "BLINDS")
VERBS, TARGET = 15, 42
"""
The most that the first two columns take, so that the longest reason fits into the third.
"""


@dataclass(frozen=True, slots=True, order=True)
class Right:
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
class Grant(StrEnum):
    """
    A review that failed says nothing about the right.
    """

    GRANTED = "granted"
    MISSING = "missing"
    UNKNOWN = "unknown"


async def review(
    api: Api, rights: Iterable[Right], *, within: timedelta = WITHIN
) -> tuple[tuple[Right, Grant], ...]:
    """
    In the order given, each right once. Raises nothing; what has no answer in time is unknown.
    """
    grants = dict.fromkeys(rights, Grant.UNKNOWN)
    room = asyncio.Semaphore(AT_ONCE)

    async def ask(right: Right) -> None:
        async with room:
            grants[right] = await _ask(api, right)

    try:
        async with asyncio.timeout(within.total_seconds()), asyncio.TaskGroup() as group:
            for right in grants:
                group.create_task(ask(right), name=f"review {right}")
    except TimeoutError:
        pass
    return tuple(grants.items())


def table(grants: Iterable[tuple[Right, Grant]], blinds: Mapping[Right, Collection[str]]) -> str:
    """
    The missing rights with the reasons that cannot be judged without them; empty if all are there.
    """
    reviewed = tuple(grants)
    rows = _rows((right for right, grant in reviewed if grant is Grant.MISSING), blinds)
    lines = _lines([HEADER, *rows]) if rows else []
    unknown = sum(grant is Grant.UNKNOWN for _, grant in reviewed)
    if unknown:
        lines.append(f"{unknown} of {len(reviewed)} rights could not be checked.")
    return "\n".join(lines)


class _Status(msgspec.Struct):
    allowed: bool = False


class _Review(msgspec.Struct):
    status: _Status


_REVIEWS = msgspec.json.Decoder(_Review)


async def _ask(api: Api, right: Right) -> Grant:
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
            "POST", PATH, body=json.dumps(body).encode(), doing=f"review the right to {right}"
        )
        allowed = decoded(_REVIEWS, answer.body).status.allowed
    except (KubeError, msgspec.DecodeError):
        return Grant.UNKNOWN
    return Grant.GRANTED if allowed else Grant.MISSING


def _rows(
    missing: Iterable[Right], blinds: Mapping[Right, Collection[str]]
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


def _lines(rows: Sequence[tuple[str, ...]]) -> list[str]:
    verbs = min(max(len(row[0]) for row in rows), VERBS)
    target = min(max(len(row[1]) for row in rows), TARGET)
    widths = (verbs, target, WIDTH - verbs - target - 2 * len(GAP))
    return [line for row in rows for line in _cells(row, widths)]


def _cells(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    """
    The lines of one row; a cell that is too wide goes on below.
    """
    cells = [textwrap.wrap(text, width) for text, width in zip(row, widths, strict=True)]
    height = max(map(len, cells))
    padded = [cell + [""] * (height - len(cell)) for cell in cells]
    return [
        GAP.join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in zip(*padded, strict=True)
    ]
