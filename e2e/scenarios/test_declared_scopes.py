"""
Kinds that an overlay declares with another scope than their CRDs have, on the real API server.

Nothing of such a kind makes a subject, so it must not look as if there were nothing wrong.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from e2e.controlplane import ControlPlane, crds, until
from e2e.support import events
from e2e.support.granted_rules import granted
from e2e.support.observer import NO_PAGES
from e2e.support.production_stack import restore
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import SHORT_FLAGS
from tests.support.mounted_file import MountedFile


GADGETS, WIDGETS = "gadgets.example.com", "widgets.example.com"
GADGET, WIDGET = "clusterGadgetBroken", "clusterWidgetBroken"
KINDS = {GADGET: ("Gadget", "gadgets"), WIDGET: ("Widget", "widgets")}
READS = [{"apiGroups": ["example.com"], "resources": ["gadgets", "widgets"]}]
WITHIN = 120
"""The time limit of each step, in seconds: two discoveries and two looks at the file."""


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with restore.healthy_stack(stack) as plane, granted(plane.client, "scopes", READS):
        try:
            yield plane
        finally:
            for name in (GADGETS, WIDGETS):
                if plane.client.exists(f"{crds.PATH}/{name}"):
                    plane.remove_crd(name)


def test_a_kind_with_another_scope_is_unknown_until_the_overlay_is_corrected(
    plane: ControlPlane,
) -> None:
    """One CRD is there from the start, the other one comes while the reporter runs."""
    crds.install(plane.client, [a_crd(GADGET, "Cluster")])
    plane.client.create("/apis/example.com/v1/gadgets", a_broken_one("Gadget"))
    overlay = MountedFile(plane.folder / "scopes", an_overlay(gadget=True, widget=False))
    flag = f"--catalogue-overlay={overlay.path}"
    with ReporterProcess(plane, *SHORT_FLAGS, NO_PAGES, flag) as reporter:
        is_named(reporter, GADGETS, f"{overlay.path}:2: Gadget is declared with namespaces")
        assert reporter.status()["kinds"][WIDGETS] == "not served"
        crds.install(plane.client, [a_crd(WIDGET, "Namespaced")])
        plane.client.create(
            "/apis/example.com/v1/namespaces/default/widgets", a_broken_one("Widget")
        )
        is_named(reporter, WIDGETS, f"{overlay.path}:3: Widget is declared without namespaces")
        until(
            lambda: (
                {GADGET, WIDGET} <= {r for r, s in reporter.states().items() if s == "unknown"}
            ),
            within=WITHIN,
            what="both reasons are unknown",
        )
        assert events.reasons(plane.client) == []
        overlay.write(an_overlay(gadget=False, widget=True))
        events.wait_for(plane.client, GADGET, within=WITHIN, containing=f"(also: {WIDGET})")
        assert "unknown" not in reporter.states().values()
        for name in (GADGETS, WIDGETS):
            assert reporter.status()["kinds"][name] == "watched"
            assert reporter.metric("watch_up", kind=name) == 1


def is_named(reporter: ReporterProcess, name: str, why: str) -> None:
    """Wait until a kind is shown as not read, and check every place in which it is."""
    until(lambda: name in reporter.status()["unread"], within=WITHIN, what=f"{name} is unread")
    status = reporter.status()
    assert status["unread"][name]["why"].startswith(why)
    assert status["unread"][name]["unknown"]
    assert status["kinds"][name].startswith(f"not listed: {why}")
    assert reporter.metric("watch_up", kind=name) == 0
    until(
        lambda: reporter.lines(f"{name}: not watched: {why}"), within=WITHIN, what="it is logged"
    )
    assert len(reporter.lines(f"{name}: not watched: {why}")) == 1
    assert "ok" in reporter.readiness(), "waiting for it is no use"


def an_overlay(*, gadget: bool, widget: bool) -> str:
    """
    Return an overlay that declares each kind in a line of its own, with namespaces or without.
    """
    lines = ["kinds:"]
    for (kind, resource), namespaced in zip(KINDS.values(), (gadget, widget), strict=True):
        declared = {"kind": kind, "group": "example.com", "resource": resource}
        lines.append(f"  - {json.dumps({**declared, 'namespaced': namespaced})}")
    entries = [
        {
            "reason": reason,
            "layer": "cluster",
            "type": "Warning",
            "owner": "user",
            "rank": 90 + number,
            "probe": "cel",
            "grace": False,
            "hold": {"starting": "1s", "lost": "1s"},
            "parameters": {"kind": kind, "current": "object.spec.ok"},
            "message": "{object} {state}.",
            "remedy": {"default": "Correct it."},
        }
        for number, (reason, (kind, _)) in enumerate(KINDS.items())
    ]
    return "\n".join([*lines, f"add: {json.dumps(entries)}", ""])


def a_broken_one(kind: str) -> dict[str, Any]:
    api = {"apiVersion": "example.com/v1", "kind": kind}
    return {**api, "metadata": {"name": "first"}, "spec": {"ok": False}}


def a_crd(reason: str, scope: str) -> dict[str, Any]:
    kind, resource = KINDS[reason]
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    names = {"kind": kind, "plural": resource, "singular": kind.lower(), "listKind": f"{kind}List"}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{resource}.example.com"},
        "spec": {"group": "example.com", "scope": scope, "names": names, "versions": [version]},
    }
