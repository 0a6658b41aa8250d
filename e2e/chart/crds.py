"""
Write the CRDs of the chart, made from the structs of the program: `python -m e2e.chart.crds`.
"""

import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml

from e2e.chart import CHART
from reporter.model.fleet.object_status import ClusterObjectStatus
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.productionstack.clusters import (
    PRODUCTION_STACK_CLUSTERS,
    ProductionStackClusterSpec,
)
from reporter.model.kinds.productionstack.statuses import (
    PRODUCTION_STACK_STATUSES,
    ProductionStackStatusSpec,
)
from reporter.model.rollup.object_status import ObjectStatus


STATUSES, CLUSTERS = PRODUCTION_STACK_STATUSES, PRODUCTION_STACK_CLUSTERS
SHORT_NAMES = {STATUSES: "pss", CLUSTERS: "psc"}
HEADER = """\
# Generated from the program's types by `python -m e2e.chart.crds`; a test compares.
"""
NOT_SEEN = {"observedGeneration": -1}
"""
The status of an object that no reporter has seen: kstatus calls one without conditions Current.
"""

KEPT = {
    "type", "format", "description", "enum", "default", "properties", "required", "items",
    "minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum",
}  # fmt: skip
"""
The keys of a JSON Schema that a structural schema may have (API reference, JSONSchemaProps).
"""

Json = dict[str, Any]


def file_of(kind: ResourceKind) -> Path:
    return CHART / "files" / f"{kind.resource}.yaml"


def content(kind: ResourceKind) -> str:
    (version,) = kind.versions
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.group_resource},
        "spec": {
            "group": kind.group,
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.resource,
                "singular": kind.kind.lower(),
                "shortNames": [SHORT_NAMES[kind]],
            },
            "scope": "Namespaced",
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": COLUMNS[kind],
                    "schema": {"openAPIV3Schema": SCHEMAS[kind]()},
                }
            ],
        },
    }
    return HEADER + yaml.safe_dump(crd, sort_keys=False, default_flow_style=False, width=100)


def status_schema() -> Json:
    """
    Return the schema of a whole ProductionStackStatus.
    """
    spec = _structural(ProductionStackStatusSpec)
    spec["properties"]["inferenceSets"]["x-kubernetes-list-type"] = "set"
    spec["x-kubernetes-validations"] = [
        {
            "rule": "self.scope != 'Cluster' || !has(self.inferenceSets)"
            " || size(self.inferenceSets) == 0",
            "message": "inferenceSets are of a namespace; leave them out with scope Cluster",
        }
    ]
    about = (
        "A question about a package: is it in effect, how far is it, what blocks it?"
        " Its user creates it; the status reporter writes its status, and nothing else."
    )
    return _whole(about, spec | {"default": {}}, _structural(ObjectStatus))


def cluster_schema() -> Json:
    """
    Return the schema of a whole ProductionStackCluster.
    """
    about = (
        "A cluster whose API server the hub cannot reach, and whose metrics it reads."
        " People create it; the hub writes its status, and nothing else."
    )
    whole = _whole(
        about, _structural(ProductionStackClusterSpec), _structural(ClusterObjectStatus)
    )
    return whole | {"required": ["spec"]}


def _whole(about: str, spec: Json, status: Json) -> Json:
    status["properties"]["conditions"] |= {
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
    }
    # What nobody has seen has nothing else yet.
    status["required"] = ["observedGeneration"]
    return {
        "type": "object",
        "description": about,
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
            "status": status | {"default": NOT_SEEN},
        },
    }


def _columns(*columns: tuple[str, str, str]) -> list[Json]:
    return [{"name": name, "type": type_, "jsonPath": path} for name, type_, path in columns]


_READY = '.status.conditions[?(@.type=="Ready")]'
COLUMNS: Mapping[ResourceKind, list[Json]] = {
    STATUSES: _columns(
        ("State", "string", ".status.state"),
        ("Ready", "string", f"{_READY}.status"),
        ("Blocked by", "string", ".status.blocking.reason"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ),
    CLUSTERS: _columns(
        ("State", "string", ".status.state"),
        ("Last known", "string", ".status.lastKnown"),
        ("Why", "string", f"{_READY}.reason"),
        ("Sets", "integer", ".status.inferenceSets.total"),
        ("Failed", "integer", ".status.inferenceSets.failed"),
        ("Version", "string", ".status.reporterVersion"),
        ("Age", "date", ".metadata.creationTimestamp"),
    ),
}
SCHEMAS: Mapping[ResourceKind, Callable[[], Json]] = {
    STATUSES: status_schema,
    CLUSTERS: cluster_schema,
}


def _structural(struct: type[msgspec.Struct]) -> Json:
    """
    Return the schema of a struct as a CRD must have it: without references, each part with a type.
    """
    (root,), definitions = msgspec.json.schema_components([struct])
    return _inline(root, definitions)


def _inline(part: Json, definitions: Json) -> Json:
    if "$ref" in part:
        found = definitions[part["$ref"].rpartition("/")[2]]
        return _inline({**found, **{k: v for k, v in part.items() if k != "$ref"}}, definitions)
    if "anyOf" in part:
        # A key whose value is null is left out.
        (one,) = (each for each in part["anyOf"] if each.get("type") != "null")
        return _inline({**one, **{k: v for k, v in part.items() if k != "anyOf"}}, definitions)
    kept = {key: value for key, value in part.items() if key in KEPT}
    if not kept.get("default", True):
        del kept["default"]
    if not kept.get("required", True):
        del kept["required"]
    if kept.get("type") == "integer":
        kept["format"] = "int64"
    if "description" in kept:
        kept["description"] = " ".join(inspect.cleandoc(kept["description"]).split())
    if "enum" in kept:
        kept["type"] = "string"
        kept["enum"] = [each for each in kept["enum"] if each is not None]
    if "properties" in kept:
        kept["properties"] = {
            name: _inline(each, definitions) for name, each in kept["properties"].items()
        }
    if "items" in kept:
        kept["items"] = _inline(kept["items"], definitions)
    return {"type": kept.pop("type"), **kept}


def main() -> int:
    for kind in SCHEMAS:
        file_of(kind).write_text(content(kind))
    return 0


if __name__ == "__main__":
    sys.exit(main())
