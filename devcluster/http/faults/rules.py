"""Injected faults: what a request gets instead of its response."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from devcluster.schema.api_errors import ApiError


@dataclass(frozen=True, slots=True)
class FaultResponse:
    """Respond with this instead."""

    code: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CutConnection:
    """Cut the connection instead of answering."""


@dataclass(frozen=True, slots=True)
class Hang:
    """Never answer, until the fault is cleared."""


FaultAction = FaultResponse | CutConnection | Hang


@dataclass(slots=True)
class Fault:
    """An action for the requests that match *method* and *path*."""

    action: FaultAction
    method: str = ".*"
    path: str = ".*"
    """Regular expressions; *method* must match fully, *path* is searched for in path and query."""
    times: int | None = None
    """Number of requests; None for all until the fault is cleared."""
    hits: int = 0

    def matches(self, method: str, path: str) -> bool:
        is_used_up = self.times is not None and self.hits >= self.times
        is_match = re.fullmatch(self.method, method) and re.search(self.path, path)
        return bool(is_match) and not is_used_up


class FaultInjector:
    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._cleared = asyncio.Event()

    def add(
        self,
        action: FaultAction,
        *,
        method: str = ".*",
        path: str = ".*",
        times: int | None = None,
    ) -> Fault:
        fault = Fault(action, method, path, times)
        self._faults.append(fault)
        return fault

    def clear(self, fault: Fault | None = None) -> None:
        """Remove one fault or all, and cut the requests that hang."""
        self._faults = [
            other for other in self._faults if fault is not None and other is not fault
        ]
        self._cleared.set()
        self._cleared = asyncio.Event()

    def next_action(self, method: str, path: str) -> FaultAction | None:
        """Return the action of the oldest fault that matches a request, and count the hit."""
        for fault in self._faults:
            if fault.matches(method, path):
                fault.hits += 1
                return fault.action
        return None

    async def wait_cleared(self) -> None:
        await self._cleared.wait()


def status_response(
    code: int, reason: str, message: str, headers: Mapping[str, str] | None = None
) -> FaultResponse:
    """Build an error response with a Status object, as the API server does."""
    body = msgspec.json.encode(ApiError(code, reason, message).status)
    return FaultResponse(code, body, {"Content-Type": "application/json", **(headers or {})})


def overloaded_response(seconds: int = 1) -> FaultResponse:
    """Build the 429 of API Priority and Fairness: plain text with Retry-After."""
    headers = {"Content-Type": "text/plain; charset=utf-8", "Retry-After": str(seconds)}
    return FaultResponse(429, b"Too many requests, please try again later.\n", headers)


def rate_limited_response() -> FaultResponse:
    """Build the 429 of the EventRateLimit admission plugin: a Status without Retry-After."""
    text = "Too many requests: limit reached on type Namespace for key kube-system"
    return status_response(429, "TooManyRequests", text)


def bad_gateway_response() -> FaultResponse:
    """Build the HTML page of a load balancer that cannot reach its API server."""
    page = b"<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>"
    return FaultResponse(502, page, {"Content-Type": "text/html"})


def truncated_response() -> FaultResponse:
    """Build a complete response whose JSON is truncated."""
    return FaultResponse(
        200,
        b'{"kind":"PodList","apiVersion":"v1","items":[{"metadata"',
        {"Content-Type": "application/json"},
    )
