"""
Write the CRDs of their chart, made from the structs of the program: `python -m e2e.chart.crds`.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

from e2e.chart import CRD_CHART
from e2e.chart.structural import Json, structural
from reporter.kinds.health_events import (
    HEALTH_EVENTS,
    HealthEventSpec,
    HealthEventStatus,
)
from reporter.kinds.productionstack import (
    PRODUCTION_STACK_CLUSTERS,
    PRODUCTION_STACK_STATUSES,
    ProductionStackClusterSpec,
    ProductionStackStatusSpec,
)
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.fleet_object_status import ClusterObjectStatus
from reporter.model.object_status import ObjectStatus


HEADER = """\
# Generated from the program's types by `python -m e2e.chart.crds`; a test compares.
"""
NOT_SEEN = {"observedGeneration": -1}
"""
The status of an object that no reporter has seen: kstatus calls one without conditions Current.
"""

_READY = '.status.conditions[?(@.type=="Ready")]'
_OBSERVED = '.status.conditions[?(@.type=="Observed")].status'
SELECTABLE = (".spec.nodeName", ".spec.checkName", ".status.phase")


def contents() -> Mapping[Path, str]:
    """Return the text of each file."""
    kinds = {
        PRODUCTION_STACK_STATUSES: _crd(
            PRODUCTION_STACK_STATUSES,
            short_name="pss",
            schema=status_schema(),
            columns=[
                ("State", "string", ".status.state"),
                ("Ready", "string", f"{_READY}.status"),
                ("Observed", "string", _OBSERVED),
                ("Blocked by", "string", ".status.blocking.reason"),
                ("Evaluated", "date", ".status.lastEvaluationTime"),
                ("Unknown from", "string", ".status.expirationTime"),
                ("Age", "date", ".metadata.creationTimestamp"),
            ],
        ),
        PRODUCTION_STACK_CLUSTERS: _crd(
            PRODUCTION_STACK_CLUSTERS,
            short_name="psc",
            schema=cluster_schema(),
            columns=[
                ("State", "string", ".status.state"),
                ("Last known", "string", ".status.lastKnown"),
                ("Why", "string", f"{_READY}.reason"),
                ("Sets", "integer", ".status.inferenceSets.total"),
                ("Failed", "integer", ".status.inferenceSets.failed"),
                ("Observed", "string", _OBSERVED),
                ("Version", "string", ".status.reporterVersion"),
                ("Evaluated", "date", ".status.lastEvaluationTime"),
                ("Unknown from", "string", ".status.expirationTime"),
                ("Age", "date", ".metadata.creationTimestamp"),
            ],
        ),
        HEALTH_EVENTS: _crd(
            HEALTH_EVENTS,
            short_name="he",
            schema=health_event_schema(),
            columns=[
                ("Reason", "string", ".spec.checkName"),
                ("Subject", "string", ".spec.subject"),
                ("Node", "string", ".spec.nodeName"),
                ("Phase", "string", ".status.phase"),
                ("Age", "date", ".metadata.creationTimestamp"),
            ],
            selectable=SELECTABLE,
        ),
    }
    return {_file(kind): _text(crd) for kind, crd in kinds.items()}


def content(kind: ResourceKind) -> str:
    return contents()[_file(kind)]


def _file(kind: ResourceKind) -> Path:
    return CRD_CHART / "files" / f"{kind.resource}.yaml"


def _text(crd: Json) -> str:
    return HEADER + yaml.safe_dump(crd, sort_keys=False, default_flow_style=False, width=100)


def _crd(
    kind: ResourceKind,
    *,
    short_name: str,
    schema: Json,
    columns: list[tuple[str, str, str]],
    selectable: tuple[str, ...] = (),
) -> Json:
    (name,) = kind.versions
    version: Json = {
        "name": name,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            {"name": column, "type": type_, "jsonPath": path} for column, type_, path in columns
        ],
    }
    if selectable:
        version["selectableFields"] = [{"jsonPath": path} for path in selectable]
    return {
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
                "shortNames": [short_name],
            },
            "scope": "Namespaced",
            "versions": [{**version, "schema": {"openAPIV3Schema": schema}}],
        },
    }


def status_schema() -> Json:
    """Return the schema of a whole ProductionStackStatus."""
    spec, status = structural(ProductionStackStatusSpec), structural(ObjectStatus)
    spec["properties"]["inferenceSets"]["x-kubernetes-list-type"] = "set"
    spec["x-kubernetes-validations"] = [
        {
            "rule": "self.scope != 'Cluster' || !has(self.inferenceSets)"
            " || size(self.inferenceSets) == 0",
            "message": "inferenceSets are of a namespace; leave them out with scope Cluster",
        }
    ]
    return _object(
        "A question about a package: is it in effect, how far is it, what blocks it?"
        " Its user creates it; the status reporter writes its status, and nothing else.",
        spec | {"default": {}},
        _not_seen_at_first(status),
    )


def cluster_schema() -> Json:
    """Return the schema of a whole ProductionStackCluster."""
    whole = _object(
        "A cluster whose API server the hub cannot reach, and whose metrics it reads."
        " People create it; the hub writes its status, and nothing else.",
        structural(ProductionStackClusterSpec),
        _not_seen_at_first(structural(ClusterObjectStatus)),
    )
    return {**whole, "required": ["spec"]}


def _not_seen_at_first(status: Json) -> Json:
    status["properties"]["conditions"] |= {
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
    }
    # What nobody has seen has nothing else yet.
    status["required"] = ["observedGeneration"]
    return status | {"default": NOT_SEEN}


def health_event_schema() -> Json:
    """Return the schema of a whole HealthEvent."""
    spec, status = structural(HealthEventSpec), structural(HealthEventStatus)
    spec["x-kubernetes-validations"] = [
        {"rule": "self == oldSelf", "message": "the spec of an episode never changes"}
    ]
    whole = _object(
        "An episode of a finding: what was wrong, how long, and who worked on it. The status"
        " reporter creates and resolves it; other controllers write what they have done.",
        spec,
        status | {"default": {}},
    )
    return {**whole, "required": ["spec"]}


def _object(description: str, spec: Json, status: Json) -> Json:
    return {
        "type": "object",
        "description": description,
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": spec,
            "status": status,
        },
    }


def main() -> int:
    for file, text in contents().items():
        file.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
