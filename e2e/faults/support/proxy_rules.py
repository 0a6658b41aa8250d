"""
What a proxy is told to do to which requests.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


WATCH = r"[?&]watch=1"
"""
Matches watches of all kinds.
"""


@dataclass(frozen=True)
class StubAnswer:
    """
    What is answered in the server's place.
    """

    status: int
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(eq=False)
class ProxyRule:
    """
    What befalls each request, or only the next *times*, whose method is one of *methods* and in
    whose path and query the expression *where* is found. The first rule that matches is taken.

    *delay*: seconds before anything is done. *hang*: nothing ever is. *answer*: instead of the
    server. *swallow*: the server does what was asked, and the connection breaks before it answers, or
    with *hang* stays as it is.
    *cut_after* so many seconds of the answer, or *cut_at* so many bytes, the connection breaks.
    *ask*: something else of the server, by another path and query.
    *change*: of each line of a watch, also of one that is open already, and of other bodies whole;
    a rule with it does nothing else.
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
    rewrite_target: Callable[[str], str] | None = None
    transform: Callable[[bytes], bytes] | None = None
    hits: int = 0

    def matches(self, method: str, target: str) -> bool:
        right = not self.methods or method in self.methods
        return right and self.hits < self.times and re.search(self.pattern, target) is not None


@dataclass(frozen=True)
class SeenRequest:
    """
    A request as it arrived; *at* in seconds of the monotonic clock.
    """

    at: float
    method: str
    target: str


def truncate_body(body: bytes) -> bytes:
    """
    What is left when its end is lost, in lines that are still ended.
    """
    return body[: len(body) // 2] + (b"\n" if body.endswith(b"\n") else b"")


def status(code: int, reason: str, message: str) -> str:
    """
    A Status as API servers answer it.
    """
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
