"""
The kinds of objects that probes read, and how each is found in the API.
"""

from dataclasses import dataclass

from reporter.model.objects import ApiObject, Deployment, Namespace, Pod


@dataclass(frozen=True, slots=True)
class ResourceKind:
    """
    A resource of the API.

    *versions* are those whose shape we can read, preferred first.
    *selector* restricts what is watched to objects with these labels.
    """

    resource: str
    group: str
    versions: tuple[str, ...]
    kind: str
    type: type[ApiObject]
    selector: str = ""

    @property
    def qualified(self) -> str:
        """
        The name as in a CRD and in kubectl: resource.group.
        """
        return f"{self.resource}.{self.group}" if self.group else self.resource


NAMESPACES = ResourceKind("namespaces", "", ("v1",), "Namespace", Namespace)
PODS = ResourceKind("pods", "", ("v1",), "Pod", Pod)
DEPLOYMENTS = ResourceKind("deployments", "apps", ("v1",), "Deployment", Deployment)

KINDS: tuple[ResourceKind, ...] = (NAMESPACES, PODS, DEPLOYMENTS)
"""
In the order in which they are listed at start: what explains before what fails.
"""
