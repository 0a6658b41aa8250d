"""A declared kind with very many objects, some of them huge: nothing else is hidden or delayed."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.controlplane import ControlPlane, crds, until
from e2e.faults.support.fault_cost import measured_cost
from e2e.support import etcd_objects, events
from e2e.support.granted_rules import granted
from e2e.support.observer import NO_PAGES
from e2e.support.process_usage import ProcessUsage
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import BODY_BASED_ROUTER
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import SHORT_FLAGS


MANY, HUGE = 50_000, 30
HUGE_BYTES = 1_000_000
MEMORY_LIMIT = 512
"""MiB that the chart allows the container."""

WITHIN = 180
"""The time limit of a step, in seconds, on a machine on which other tests run."""

GROUP, RESOURCE = "example.com", "records"
CRD = f"{RESOURCE}.{GROUP}"
RECORDS = f"/apis/{GROUP}/v1/namespaces/default/{RESOURCE}"
KEYS = f"/registry/{GROUP}/{RESOURCE}/default/"
REASON, BBR = "clusterRecordWrong", "clusterBBRNotReady"
OVERLAY: dict[str, Any] = {
    "kinds": [{"kind": "Record", "group": GROUP, "resource": RESOURCE}],
    "add": [
        {
            "reason": REASON,
            "layer": "cluster",
            "type": "Warning",
            "owner": "user",
            "rank": 900,
            "probe": "cel",
            "hold": {"failed": "1s"},
            "parameters": {
                "kind": "Record",
                "current": "object.spec.ok",
                "failed": "!object.spec.ok",
                "text": "object.spec.text",
            },
            "message": "{object} {state} ({count}).",
            "remedy": {"default": "Correct it."},
        }
    ],
}
MANIFEST: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": CRD},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {
            "kind": "Record",
            "plural": RESOURCE,
            "singular": "record",
            "listKind": "RecordList",
        },
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with restore.healthy_stack(stack) as plane:
        crds.install(plane.client, [MANIFEST])
        try:
            yield plane
        finally:
            etcd_objects.remove_all(plane, KEYS)
            crds.remove(plane.client, CRD)


@pytest.mark.slow
def test_fifty_thousand_objects_are_evaluated_and_delay_nothing(
    plane: ControlPlane, tmp_path: Path
) -> None:
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(json.dumps(OVERLAY))
    etcd_objects.write_all(plane, {f"{KEYS}r{n}": _record(n) for n in range(MANY)})
    rules = [{"apiGroups": [GROUP], "resources": [RESOURCE]}]
    with contextlib.ExitStack() as ends:
        ends.enter_context(granted(plane.client, "many-records", rules))
        flags = (*SHORT_FLAGS, NO_PAGES, f"--catalogue-overlay={overlay}")
        reporter = ReporterProcess(plane, *flags)
        ends.push(reporter)
        reporter.start(ready=False, leading=False)
        reporter.until_ready(within=WITHIN)
        warning = events.wait_for(plane.client, REASON, within=WITHIN)
        assert warning.message.startswith(f"Record default/r7 has failed (1 of {MANY}): wrong.")
        assert _memory(reporter) < MEMORY_LIMIT
        with measured_cost(reporter, f"{HUGE} objects of {HUGE_BYTES} bytes") as spent:
            for number in range(HUGE):
                plane.client.create(RECORDS, _huge(number))
            until(
                lambda: reporter.metric("objects", kind=CRD) == MANY + HUGE,
                within=WITHIN,
                what="all objects have arrived",
            )
            components.scale(plane.client, BODY_BASED_ROUTER, 0)
            events.wait_for(plane.client, BBR, within=WITHIN)
        # Some copies of one of them are in memory at a time, and not all of them.
        assert spent.peak < HUGE * HUGE_BYTES / 2**20
        assert _memory(reporter) < MEMORY_LIMIT
        assert reporter.running


def _memory(reporter: ReporterProcess) -> float:
    assert reporter.process is not None
    return ProcessUsage.of(reporter.process.pid).memory


def _record(number: int) -> dict[str, Any]:
    """Return a record as etcd has it; the seventh is wrong."""
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Record",
        "metadata": {
            "name": f"r{number}",
            "namespace": "default",
            "uid": f"0f0f0f0f-0000-0000-0000-{number:012}",
            "generation": 1,
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {"ok": number != 7, "text": "wrong", "unread": "x" * 500},
    }


def _huge(number: int) -> dict[str, Any]:
    text = f"{number}" + "x" * HUGE_BYTES
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Record",
        "metadata": {"name": f"huge{number}", "namespace": "default"},
        "spec": {"ok": False, "text": text},
    }
