"""
Review the permissions that are needed: at start, now and then, and after a request was forbidden.
"""

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import NoReturn

from msgspec import Struct

from reporter.controller.permissions import POD_PROXY_PERMISSION, PermissionStates
from reporter.kube.access_review import (
    Permission,
    PermissionStatus,
    format_missing_permissions,
    review_permissions,
    review_rules,
)
from reporter.kube.errors import KubeError
from reporter.kube.watch_context import WatchContext
from reporter.metrics.input_collectors import PermissionReport
from reporter.process.subscribers import Subscribers
from reporter.settings import ScrapeMode


class ReviewTiming(Struct, frozen=True):
    """
    Moments at which permissions are reviewed; the first two vary as other regular intervals do.

    *interval*: between two reviews of all. *retry_interval*: between two reviews of those that are
    missing or unknown. *forbidden_interval*: the least time between two reviews of all because
    requests were forbidden. *confirmation*: from a first denial to the review that confirms it.
    *rules_interval*: between two looks at the rules. With it and the confirmation a permission that is lost
    is noticed within a minute; a watch that is open goes on without it for up to ten.
    """

    interval: timedelta = timedelta(minutes=30)
    retry_interval: timedelta = timedelta(minutes=1)
    forbidden_interval: timedelta = timedelta(minutes=1)
    confirmation: timedelta = timedelta(seconds=5)
    rules_interval: timedelta = timedelta(seconds=45)


DEFAULT_TIMING = ReviewTiming()
RULES_TIMEOUT = timedelta(seconds=10)
ANY_NAMESPACE = "default"
"""The namespace to ask about where nothing is needed in one; the rules for all namespaces are among its own."""

logger = logging.getLogger(__name__)


class PermissionReview:
    """
    Keeps the states of the permissions. The process runs with those that it has.

    *mode* is how pods are scraped: in AUTO the proxy is needed only where pods cannot be reached, so
    it is not counted as missing. *changes*: notified after each review that finds other permissions missing
    than before.
    """

    def __init__(
        self,
        context: WatchContext,
        needed: Mapping[Permission, Collection[str]],
        *,
        mode: ScrapeMode = ScrapeMode.PROXY,
        timing: ReviewTiming = DEFAULT_TIMING,
    ) -> None:
        self._context, self._mode, self._timing = context, mode, timing
        self._reviews_proxy = mode is ScrapeMode.AUTO and POD_PROXY_PERMISSION in needed
        self.states = PermissionStates.before_reviews(self._reviewed(needed))
        self._needs_review = False
        self._forbidden: set[str] = set()
        self._was_forbidden = asyncio.Event()
        self._next_after_forbidden = 0.0
        self._rules: dict[str, tuple[bytes, ...]] = {}
        self._repeats = False
        self._logged: tuple[frozenset[Permission], bool] | None = None
        self.changes: Subscribers[[]] = Subscribers()

    def set_needed(self, needed: Mapping[Permission, Collection[str]]) -> None:
        """
        Review these permissions from now on. What is known of those that stay is kept until the review.
        """
        self.states = self.states.with_needed(self._reviewed(needed))
        self._needs_review = True
        self._was_forbidden.set()

    def _reviewed(
        self, needed: Mapping[Permission, Collection[str]]
    ) -> Mapping[Permission, Collection[str]]:
        """Return those that count as missing if they are not granted."""
        return {
            each: purposes
            for each, purposes in needed.items()
            if each != POD_PROXY_PERMISSION or self._mode is not ScrapeMode.AUTO
        }

    def record_forbidden(self, permission: str) -> None:
        """
        Record a request that lacked a permission, as "list deployments.apps".

        One that is not known to be granted is reviewed again soon in any case.
        """
        pending = self.states.pending
        is_news = any(
            each.request_text == permission and each not in pending for each in self.states.needed
        )
        if is_news:
            self._forbidden.add(permission)
            self._was_forbidden.set()

    def report(self) -> PermissionReport:
        """
        Return which permissions are missing, and of how many nothing is known, for the metrics page.
        """
        return PermissionReport(self.states.missing_by_resource(), len(self.states.unknown))

    async def run(self) -> NoReturn:
        """
        Review until cancelled: all at each *interval*, those not granted more often.

        All also after a 403, and once the rules have changed. A review without an answer is no error:
        the permission stays as it was, or unknown.
        """
        if self._reviews_proxy:
            await self._review_proxy()
        while True:
            self._forbidden.clear()
            self._needs_review = False
            # Before the review, so that no change is missed between the two.
            self._repeats |= await self._read_rules()
            await self._review(self.states.needed)
            await self._wait_until_due()

    async def _wait_until_due(self) -> None:
        """Return when all are to be reviewed. Until then review those that are not granted."""
        timing = self._timing
        due_at = self._seconds() + self._jittered(timing.interval)
        retry_at = self._seconds() + self._jittered(timing.retry_interval)
        rules_at = self._seconds() + self._jittered(timing.rules_interval)
        while self._seconds() < due_at and not self._needs_review:
            if self._forbidden and self._seconds() >= self._next_after_forbidden:
                within = timing.forbidden_interval.total_seconds()
                self._next_after_forbidden = self._seconds() + within
                return
            wakes = [due_at, rules_at, *([retry_at] if self.states.pending else ())]
            if self._forbidden:
                wakes.append(self._next_after_forbidden)
            await self._sleep_until(min(wakes))
            if self._seconds() >= rules_at:
                is_changed = await self._read_rules()
                if is_changed or self._repeats:
                    self._repeats = is_changed
                    return
                rules_at = self._seconds() + self._jittered(timing.rules_interval)
            if self.states.pending and self._seconds() >= retry_at:
                await self._review(self.states.pending)
                retry_at = self._seconds() + self._jittered(timing.retry_interval)

    async def _read_rules(self) -> bool:
        """
        Read the rules by which this process may do something, and return whether they have changed.

        They take one request for each namespace in which something is needed, and are no proof: an
        authorizer may have others. So all permissions are reviewed after a change, and once more later, as
        of several API servers one may not know of it yet.
        """
        needed = {each.namespace for each in self.states.needed if each.namespace}
        is_changed = False
        for namespace in needed or {ANY_NAMESPACE}:
            try:
                rules = await review_rules(self._context.api, namespace, time_limit=RULES_TIMEOUT)
            except KubeError as err:
                logger.debug("%s", err)
                continue
            is_changed |= self._rules.get(namespace, rules) != rules
            self._rules[namespace] = rules
        return is_changed

    async def _sleep_until(self, at: float) -> None:
        """Sleep until a moment of the event loop's clock, or until a request is forbidden."""
        self._was_forbidden.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout_at(at):
                await self._was_forbidden.wait()

    async def _review(self, permissions: Iterable[Permission]) -> None:
        results = dict(await review_permissions(self._context.api, permissions))
        newly_missing = [
            each
            for each, status in results.items()
            if status is PermissionStatus.MISSING and each not in self.states.missing
        ]
        if newly_missing:
            # An API server that has just started denies what it has not read yet: its authorizer
            # finds no role before its informers are synced.
            await asyncio.sleep(self._timing.confirmation.total_seconds())
            results |= await review_permissions(self._context.api, newly_missing)
        before = self.states
        self.states = before.with_review(results.items(), now=self._context.clock.now())
        pending = {each.request_text for each in self.states.pending}
        self._forbidden -= pending
        self._log(before)
        if self.states.missing != before.missing:
            self.changes.notify()

    async def _review_proxy(self) -> None:
        ((_, status),) = await review_permissions(self._context.api, [POD_PROXY_PERMISSION])
        if status is PermissionStatus.MISSING:
            logger.info(
                "%s is not granted; it is needed only where pods cannot be reached directly",
                POD_PROXY_PERMISSION,
            )

    def _log(self, before: PermissionStates) -> None:
        """Log what has changed: one table of what is missing, or that nothing is."""
        states = self.states
        shown = (states.missing, bool(states.unknown))
        if shown == self._logged:
            return
        self._logged = shown
        for permission in states.needed:
            if permission in before.missing - states.missing:
                logger.info("%s is granted again", permission)
        lines = format_missing_permissions(states.statuses, states.needed).splitlines()
        if not lines:
            logger.info("all %d permissions that are needed are granted", len(states.needed))
        elif states.missing:
            logger.error(
                "RBAC permissions are missing; what needs them stays Unknown or lacks detail:"
            )
            for line in lines:
                logger.error("  %s", line)
        else:
            for line in lines:
                logger.warning("%s", line)

    def _jittered(self, interval: timedelta) -> float:
        context = self._context
        return context.timing.jittered(interval, context.random).total_seconds()

    @staticmethod
    def _seconds() -> float:
        return asyncio.get_running_loop().time()
