"""
The packages that status objects name, for the roll-up; sorted out only after a change of theirs.
"""

from collections.abc import Mapping

from reporter.kinds.productionstack import ProductionStackStatus
from reporter.model.status_document import Package
from reporter.rollup.packages import packages_of
from reporter.store.written_objects import WrittenObjectStore


class PackageIndex:
    """Returns the package of each namespace with one: the same mapping until one changes."""

    def __init__(self, objects: WrittenObjectStore[ProductionStackStatus]) -> None:
        self._objects = objects
        self._revision = 0
        self._packages: Mapping[str, Package] = {}

    def __call__(self) -> Mapping[str, Package]:
        if self._revision != self._objects.revision:
            self._revision = self._objects.revision
            found = packages_of(self._objects.objects.values())
            self._packages = self._packages if found == self._packages else found
        return self._packages
