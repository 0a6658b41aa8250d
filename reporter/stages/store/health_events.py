"""
The HealthEvents of this program.
"""

from collections.abc import Callable

from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.productionstack.health_events import HealthEvent
from reporter.stages.store.written_objects import WrittenObjectStore


class HealthEventStore(WrittenObjectStore[HealthEvent]):
    def __init__(self, served_version: Callable[[ResourceKind], str | None]) -> None:
        super().__init__(HealthEvent, served_version)

    def all(self) -> tuple[HealthEvent, ...]:
        return tuple(self.objects.values())
