"""Print Events in place of writing them, for a look at a cluster that stays as it is."""

from reporter.kube.event_record import EventRecord, PossibleKeysFunc
from reporter.model.subjects import FindingKey


class PrintedEvents:
    """The Events of one process, on standard output. A heartbeat is not printed."""

    def __init__(self) -> None:
        self._printed: dict[FindingKey, EventRecord] = {}

    async def create(self, record: EventRecord) -> None:
        """Print the Event that would be created."""
        self._print(record)

    async def patch(self, record: EventRecord) -> None:
        """
        Print the Event that would be patched, if its message differs from the one printed last.
        """
        before = self._printed.get(record.key)
        if before is None or before.message != record.message:
            self._print(record)

    async def read(self, record: EventRecord) -> EventRecord | None:
        """Return the Event of the key as it was printed last; None if it was not."""
        return self._printed.get(record.key)

    async def list(self, possible_keys: PossibleKeysFunc) -> tuple[EventRecord, ...]:
        """
        Return no earlier Events, so that trouble already announced by another process is printed too.
        """
        return ()

    def _print(self, record: EventRecord) -> None:
        self._printed[record.key] = record
        about = f"{record.involved_object.kind.lower()}/{record.involved_object.name}"
        when = f"{record.last_timestamp:%H:%M:%S}"
        print(when, record.type, record.key.reason, about, record.message, flush=True)
