"""Facts that parts of this process report, and that are no objects of the cluster."""

from collections.abc import Callable, Iterable, Mapping

from reporter.model.kinds.productionstack.health_event_writes import StoreLimit
from reporter.model.silences import NO_SILENCE_FILE, SilenceFile
from reporter.model.subjects import CLUSTER_SUBJECT, Subject


class Reports:
    """
    Keeps what was reported last.

    *mark_dirty* is called with the subjects that a changed fact is about.
    """

    def __init__(self, mark_dirty: Callable[[Iterable[Subject]], None]) -> None:
        self._mark_dirty = mark_dirty
        self.rejected: Mapping[StoreLimit, int] = {}
        self.silence_file = NO_SILENCE_FILE

    def record_store_rejections(self, rejected: Mapping[StoreLimit, int]) -> None:
        """Record how many episodes have no place among the HealthEvents, by the limit."""
        if rejected != self.rejected:
            self.rejected = rejected
            self._mark_dirty((CLUSTER_SUBJECT,))

    def record_silence_file(self, file: SilenceFile) -> None:
        """Record the file of silences as it was read. Every pass matches all findings with it."""
        if file != self.silence_file:
            self.silence_file = file
            self._mark_dirty((CLUSTER_SUBJECT,))
