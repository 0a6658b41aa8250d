"""
The ProductionStackStatuses that can be written.
"""

from collections.abc import Callable

from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.productionstack.statuses import ProductionStackStatus
from reporter.stages.store.written_objects import WrittenObjectStore


class StatusObjectStore(WrittenObjectStore[ProductionStackStatus]):
    def __init__(self, served_version: Callable[[ResourceKind], str | None]) -> None:
        super().__init__(ProductionStackStatus, served_version)
