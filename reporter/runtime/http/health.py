"""
The answers of /livez and /readyz: why not, or an empty text.
"""

import asyncio
from datetime import timedelta

from reporter.runtime.controller.controller import Controller


STALLED_RESYNCS = 3
"""
Resyncs without a finished pass after which the process is not alive.
"""


class Health:
    """
    *resync* is the time between two full passes.
    """

    def __init__(self, controller: Controller, *, resync: timedelta) -> None:
        self._controller, self._resync = controller, resync
        self._now = asyncio.get_running_loop().time
        self.started_at = self._now()

    def why_not_live(self) -> str:
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
        if not self._controller.has_synced:
            return "not every kind was listed yet"
        if not self._controller.pass_times.first_finished.is_set():
            return "no pass was finished yet"
        return ""
