"""
The packages that status objects name, for the roll-up; collected again only after one has changed.
"""

from collections.abc import Iterable, Mapping

from reporter.kinds.productionstack import ProductionStackStatus, StatusScope
from reporter.model.status_document import Package
from reporter.store.written_objects import WrittenObjectStore


def packages_of(objects: Iterable[ProductionStackStatus]) -> Mapping[str, Package]:
    """
    Return the package of each namespace with one; of several objects the first by name counts.
    """
    found: dict[str, Package] = {}
    for each in sorted(objects, key=lambda each: each.metadata.name, reverse=True):
        package = each.spec.package
        if each.spec.scope is StatusScope.NAMESPACE and package is not None and package.name:
            found[each.metadata.namespace] = Package(name=package.name, revision=package.revision)
    return found


class PackageIndex:
    """A cache of *packages_of* over the objects of a store, which is called for the packages."""

    def __init__(self, objects: WrittenObjectStore[ProductionStackStatus]) -> None:
        self._objects = objects
        self._revision = 0
        self._packages: Mapping[str, Package] = {}

    def __call__(self) -> Mapping[str, Package]:
        """
        Return the package of each namespace with one.

        It is the same mapping as before until a package changes, so callers may compare by identity.
        """
        if self._revision != self._objects.revision:
            self._revision = self._objects.revision
            found = packages_of(self._objects.objects.values())
            self._packages = self._packages if found == self._packages else found
        return self._packages
