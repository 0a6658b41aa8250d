"""The packages that objects name, which count before the labels of Namespaces and charts."""

from collections.abc import Iterable, Mapping

from reporter.kinds.productionstack import ProductionStackStatus, StatusScope
from reporter.model.status_document import Package


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
