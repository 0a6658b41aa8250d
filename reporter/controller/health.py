"""The answers of /livez and /readyz: why not, or an empty text."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import timedelta

from reporter.controller.controller import Controller
from reporter.model.subjects import Subject
from reporter.store.store import Store


STALLED_RESYNCS = 3
"""Resyncs without a finished pass after which the process is not alive."""


class Health:
    """
    Liveness and readiness, and what a ready process lacks.

    *resync*: the time between two full passes. *waiting_for*: returns why a leader announces
    nothing, or an empty text. *unread*: returns the kinds that cannot be read now, with why.
    *overlay_refused*: returns why the catalogue's overlay is not in effect, or an empty text.
    *shows_status*: returns whether a pass has been rolled up into the status.
    """

    def __init__(  # noqa: PLR0913
        self,
        controller: Controller,
        store: Store,
        *,
        resync: timedelta,
        waiting_for: Callable[[], str] = lambda: "",
        unread: Callable[[], Mapping[str, str]] = dict,
        overlay_refused: Callable[[], str] = lambda: "",
        shows_status: Callable[[], bool] = lambda: True,
    ) -> None:
        self._controller, self._store, self._resync = controller, store, resync
        self._waiting_for, self._unread = waiting_for, unread
        self._overlay_refused, self._shows_status = overlay_refused, shows_status
        self._now = asyncio.get_running_loop().time
        self.started_at = self._now()
        self._was_ready = False

    def why_not_live(self) -> str:
        """
        Return why /livez fails, or an empty text: no pass was finished for STALLED_RESYNCS resyncs.

        It is empty until the first lists have arrived, as a restart does not speed up a slow
        server.
        """
        times = self._controller.pass_times
        if not (times.first_finished.is_set() or self._controller.has_synced):
            # Restarting this process does not help a server that is slow to list.
            return ""
        last = times.finished or self.started_at
        stalled = timedelta(seconds=self._now() - last)
        if stalled <= STALLED_RESYNCS * self._resync:
            return ""
        return f"no pass was finished for {stalled.total_seconds():.0f}s"

    def why_not_ready(self) -> str:
        """
        Return what the process waits for until every kind was listed once and the status tells of it.

        A list that the API server itself forbids, or keeps failing while it lists other kinds, or a
        kind that it does not serve, is not waited for. An answer of a proxy in its place is no
        evidence about the kind.
        """
        if self._was_ready:
            return ""
        waited_for = self._store.kinds_waited_for()
        if waited_for:
            return "\n".join(("not every kind was listed yet", *_lines_by_cause(waited_for)))
        if not self._controller.pass_times.first_finished.is_set():
            return "no pass was finished yet"
        if not self._shows_status():
            return "the status was not rolled up yet"
        self._was_ready = True
        return ""

    def describe_limits(self) -> str:
        """Return what a ready process does not know or do, with why, a line for each."""
        unknown = self._controller.evaluation.known_subjects.unknown
        lines = [f"unknown: {_all_of(each)}: {why}" for each, why in unknown.items()]
        lines += [f"not read: {line}" for line in _lines_by_cause(self._unread())]
        if refused := self._overlay_refused():
            lines.append(f"catalogue overlay refused, an earlier one is in effect: {refused}")
        waiting_for = self._waiting_for()
        return "\n".join([*lines, *([f"not announcing: {waiting_for}"] if waiting_for else [])])


def _all_of(placeholder: Subject) -> str:
    return f"{placeholder.layer} {placeholder.kind}".rstrip()


def _lines_by_cause(waited_for: Mapping[str, str]) -> list[str]:
    kinds: defaultdict[str, list[str]] = defaultdict(list)
    for kind, why in waited_for.items():
        kinds[why].append(kind)
    return [f"{', '.join(names)}: {why}" for why, names in kinds.items()]
