"""The rules by which a proxy delays, changes or refuses requests."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


WATCH = r"[?&]watch=1"
"""Matches watches of all kinds."""


@dataclass(frozen=True)
class StubAnswer:
    """The answer that the proxy sends instead of the server's."""

    status: int
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(eq=False)
class ProxyRule:
    """
    A fault for each request, or for the next *times* requests, whose method is in *methods* and
    whose path and query match the expression *pattern*. The first matching rule applies.

    *delay*: seconds before anything is done.
    *hang*: never answer.
    *answer*: sent instead of the server's.
    *drop_answer*: the server handles the request and the connection breaks before its answer, or
    with *hang* stays open.
    *cut_after*, *cut_at*: break the connection after so many seconds or bytes of the answer.
    *change_headers*: change the headers of the server's answer.
    *rewrite_target*: request another path and query from the server.
    *transform*: change each line of a watch, also of one already open, and other bodies as a
    whole; a rule with it has no other effect.
    """

    pattern: str = ""
    methods: tuple[str, ...] = ()
    times: float = float("inf")
    delay: float = 0
    hang: bool = False
    answer: StubAnswer | None = None
    drop_answer: bool = False
    cut_after: float | None = None
    cut_at: int | None = None
    change_headers: Callable[[dict[str, str]], dict[str, str]] | None = None
    rewrite_target: Callable[[str], str] | None = None
    transform: Callable[[bytes], bytes] | None = None
    hits: int = 0

    def matches(self, method: str, target: str) -> bool:
        right = not self.methods or method in self.methods
        return right and self.hits < self.times and re.search(self.pattern, target) is not None


@dataclass(frozen=True)
class SeenRequest:
    """A request as it arrived; *at* in seconds of the monotonic clock."""

    at: float
    method: str
    target: str


def truncate_body(body: bytes) -> bytes:
    """Return the first half of a body; a watch line keeps its newline."""
    return body[: len(body) // 2] + (b"\n" if body.endswith(b"\n") else b"")


def status(code: int, reason: str, message: str) -> str:
    """Return a Status as API servers write it."""
    content = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    return json.dumps(content)


def refusal(code: int, reason: str, message: str) -> StubAnswer:
    return StubAnswer(code, status(code, reason, message), {"Content-Type": "application/json"})
