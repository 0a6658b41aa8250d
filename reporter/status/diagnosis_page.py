"""The /status page: the parts of the process that it shows, put together at each request."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from reporter import PROGRAM_VERSION
from reporter.announcing.announcements import Announcements
from reporter.controller.controller import Controller
from reporter.kube.leadership import Leadership
from reporter.model.enums import Reason
from reporter.status.diagnosis import StateHistory, render_diagnosis
from reporter.store.store import Store


class ProcessInfo(Struct, frozen=True):
    """
    The facts about this process that the page /status shows, as functions where they change.

    *identity*: of this replica, as in the Lease.
    *find_unchecked*: returns the reasons that check nothing with its flags, with what to set.
    *find_unread*: returns the kinds that cannot be read now, with why and the reasons that miss them.
    *find_permissions*: returns the permissions that are missing, or that could not be reviewed.
    *why_overlay_refused*: returns why the catalogue's overlay is not in effect; empty if it is.
    """

    identity: str
    find_unchecked: Callable[[], Mapping[Reason, str]]
    find_unread: Callable[[], dict[str, Any]]
    find_permissions: Callable[[], dict[str, Any]]
    why_overlay_refused: Callable[[], str] = lambda: ""


class DiagnosisPage:
    """
    The page /status for diagnosis: each subject, its states, and why it is not announced.

    It is another page than /status/v1, which has the roll-up for programs.
    """

    def __init__(
        self,
        store: Store,
        controller: Controller,
        announcements: Announcements,
        history: StateHistory,
        leadership: Leadership,
        *,
        process: ProcessInfo,
    ) -> None:
        self._store, self._controller, self._announcements = store, controller, announcements
        self._history, self._leadership, self._process = history, leadership, process

    def render(self) -> Iterator[str]:
        """
        Return the chunks of the page as JSON, all of one moment; they are rendered as they are taken.
        """
        refused = self._process.why_overlay_refused()
        finished_at = self._controller.pass_times.finished_at
        process = {
            "version": PROGRAM_VERSION,
            "identity": self._process.identity,
            "leading": self._leadership.is_leader,
            "leader": self._leadership.holder or None,
            "lastPass": finished_at.isoformat() if finished_at else None,
            "unread": self._process.find_unread(),
            "permissions": self._process.find_permissions(),
            **({"overlayRefused": refused} if refused else {}),
        }
        return render_diagnosis(
            self._announcements.publish_context(),
            self._store.snapshot(),
            since=self._history.freeze(),
            process=process,
            unchecked=self._process.find_unchecked(),
        )
