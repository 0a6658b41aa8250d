"""The kinds that the overlay of a case declares, on an API server that does not know them yet."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from e2e.controlplane import Client, Json, crds
from e2e.support.granted_rules import granted
from reporter.controller.watched_kinds import kinds_to_watch
from reporter.kinds.resource_kind import ResourceKind
from tests.support.cases import case_catalogue


ROLE = "case-kinds"


@contextlib.contextmanager
def declared_kinds(
    client: Client, case: Mapping[str, Any], *, grant: bool
) -> Iterator[Sequence[ResourceKind]]:
    """
    Install the CRDs of a case's own kinds and grant to read them; remove them with all objects.
    """
    written = case.get("overlay", {}).get("kinds", [])
    if not written:
        yield ()
        return
    served: Mapping[str, Sequence[str]] = case.get("given", {}).get("crds", {})
    kinds = [
        replace(each, versions=tuple(served.get(each.group_resource, each.versions)))
        for each in kinds_to_watch(case_catalogue(case))
        if each.is_declared
    ]
    versions = {each.group_resource: each.versions for each in kinds}
    custom = {
        name: _crd(name, each, versions[name])
        for each in written
        if (name := f"{each['resource']}.{each.get('group', '')}") in served
    }
    rules = [{"apiGroups": [each.group], "resources": [each.resource]} for each in kinds]
    try:
        crds.install(client, custom.values())
        with granted(client, ROLE, rules) if grant else contextlib.nullcontext():
            yield kinds
    finally:
        for name in custom:
            crds.remove(client, name)


def _crd(name: str, written: Mapping[str, Any], versions: Sequence[str]) -> Json:
    kind, resource = written["kind"], written["resource"]
    names = {"kind": kind, "plural": resource, "singular": kind.lower(), "listKind": f"{kind}List"}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": {
            "group": written["group"],
            "scope": "Namespaced" if written.get("namespaced", True) else "Cluster",
            "names": names,
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == versions[0],
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": schema},
                }
                for version in versions
            ],
        },
    }
