"""
The healthy stack that every case starts from.
"""

from collections.abc import Iterator, Mapping

from reporter.embedded.example.components import COMPONENTS, NAMESPACES
from reporter.embedded.example.crds import crds
from tests.support.cases.case_files import CASES, read_yaml


def _load() -> Mapping[str, Mapping]:
    stack = read_yaml(CASES / "healthy" / "stack.yaml")
    objects = {**dict(_control_plane()), **stack["objects"]}
    return {"objects": objects, "crds": {**dict(_served_versions()), **stack["crds"]}}


def _control_plane() -> Iterator[tuple[str, Mapping]]:
    for namespace in NAMESPACES:
        yield f"Namespace {namespace}", {}
    for each in COMPONENTS:
        description = {"replicas": each.replicas, "labels": each.labels}
        yield f"Deployment {each.namespace}/{each.name}", description


def _served_versions() -> Iterator[tuple[str, list[str]]]:
    for crd in crds():
        versions = [each["name"] for each in crd["spec"]["versions"] if each["served"]]
        yield crd["metadata"]["name"], versions


HEALTHY_STACK = _load()
"""
Its objects in the notation of the cases, and the served versions of each CRD; None if not served.
"""
