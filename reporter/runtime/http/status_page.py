"""
The /status page: the parts of the process that it shows, put together at each request.
"""

from collections.abc import Iterator
from importlib.metadata import version

from reporter.runtime.announcing.announcements import Announcements
from reporter.runtime.controller.controller import Controller
from reporter.runtime.leaderelection.leadership import Leadership
from reporter.sinks.status import StateHistory, render_status
from reporter.stages.store.store import Store


class StatusPage:
    def __init__(
        self,
        store: Store,
        controller: Controller,
        announcements: Announcements,
        history: StateHistory,
        leadership: Leadership,
        *,
        identity: str,
    ) -> None:
        self._store, self._controller, self._announcements = store, controller, announcements
        self._history, self._leadership, self._identity = history, leadership, identity

    def render(self) -> Iterator[str]:
        """
        Return the page in parts.
        """
        finished_at = self._controller.pass_times.finished_at
        process = {
            "version": version("productionstack-status-reporter"),
            "identity": self._identity,
            "leading": self._leadership.is_leader,
            "leader": self._leadership.holder or None,
            "lastPass": finished_at.isoformat() if finished_at else None,
        }
        return render_status(
            self._announcements.publish_context(),
            self._store.snapshot(),
            since=self._history.freeze(),
            process=process,
        )
