"""
Write the permissions of the chart, computed from the catalogue: `python -m e2e.chart.rights`.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import yaml

from e2e.chart import CHART, HUB_CHART
from e2e.controlplane.rules import lease, needed, rules
from reporter.catalogue.loader import default_folder
from reporter.catalogue.overlay import shipped_packs
from reporter.cli.hub_configuration import load_hub_settings
from reporter.controller.permissions import PermissionNeeds
from reporter.hub.run import needed_permissions
from reporter.kinds.api_names import NVSENTINEL_RESOURCE
from reporter.kinds.health_events import HEALTH_EVENTS
from reporter.kinds.nvsentinel import node_health_events
from reporter.kube.access_review import Permission
from reporter.kube.event_format import EVENT_NAMESPACE as EVENTS
from reporter.model.enums import DetailSource
from reporter.settings import ScrapeMode


FILE, HUB_FILE = (chart / "files" / "rights.yaml" for chart in (CHART, HUB_CHART))
HEADER = """\
# Generated from the catalogue by `python -m e2e.chart.rights`; a test compares.
# packs, sources, statusObjects, podProxy, mirror, reviews: in the whole cluster. events: in kube-system.
# store, nvsentinel: in the namespace of the release, the latter for the resource that is set. lease: in
# the namespace of the pods, with the name of the Lease where `named`.
"""
HUB_HEADER = """\
# Generated from the program by `python -m e2e.chart.rights`; a test compares.
# In the namespace of the hub, reviews in the whole cluster. lease: with the name of the Lease where
# `named`.
"""
LEASE = lease("namespace of the pods", "the Lease")
STORE = replace(HEALTH_EVENTS, namespace="namespace of the release")
NVSENTINEL = node_health_events(NVSENTINEL_RESOURCE, STORE.namespace)

Json = dict[str, Any]


def content() -> str:
    everywhere = needed(PermissionNeeds())
    with_lease = needed(PermissionNeeds(lease=LEASE)) - everywhere
    events = {right for right in everywhere if right.namespace == EVENTS}
    granted = {
        "packs": {
            pack: _compact(needed(PermissionNeeds(), [pack]) - events)
            for pack in shipped_packs(default_folder())
        },
        "sources": {
            each.value: _compact(needed(PermissionNeeds(sources=[each])) - everywhere)
            for each in DetailSource
        },
        "statusObjects": _compact(needed(PermissionNeeds(status_objects=True)) - everywhere),
        "mirror": _compact(needed(PermissionNeeds(mirror_events=True)) - everywhere),
        "podProxy": _compact(needed(PermissionNeeds(mode=ScrapeMode.AUTO)) - everywhere),
        "reviews": _compact(needed(PermissionNeeds(reviews=True)) - everywhere),
        "events": _compact(events),
        "store": _compact(needed(PermissionNeeds(store=STORE)) - everywhere),
        "nvsentinel": _compact(needed(PermissionNeeds(store=NVSENTINEL)) - everywhere),
        "lease": [_unnamed(rule) for rule in _compact(with_lease)],
    }
    return HEADER + yaml.safe_dump(granted, sort_keys=False, default_flow_style=None, width=100)


def hub_content() -> str:
    """Return the permissions of the hub; those for objects only if it reads these."""
    url = "--hub-query-url=https://engine"
    seen = set(needed_permissions(load_hub_settings([url, "--hub-engage=seen"], {})))
    listed = set(needed_permissions(load_hub_settings([url], {})))
    authorized = "--status-authorization=kubernetes"
    reviewing = set(needed_permissions(load_hub_settings([url, authorized], {})))
    granted = {
        "objects": _compact(listed - seen),
        "lease": [_unnamed(rule) for rule in _compact(seen)],
        "reviews": _compact(reviewing - listed),
    }
    return HUB_HEADER + yaml.safe_dump(
        granted, sort_keys=False, default_flow_style=None, width=100
    )


def _compact(rights: Iterable[Permission]) -> list[Json]:
    """Merge the rules of a group that differ only in their resources."""
    alike: defaultdict[tuple[tuple[str, ...], ...], list[str]] = defaultdict(list)
    for rule in rules(rights):
        keys = ("apiGroups", "verbs", "resourceNames")
        alike[tuple(tuple(rule.get(key, ())) for key in keys)] += rule["resources"]
    return [
        {"apiGroups": list(groups), "resources": resources, "verbs": list(verbs)}
        | ({"resourceNames": list(names)} if names else {})
        for (groups, verbs, names), resources in alike.items()
    ]


def _unnamed(rule: Json) -> Json:
    """Leave the name out of a rule: it is a value of the chart."""
    return {key: rule[key] for key in ("apiGroups", "resources", "verbs")} | {
        "named": "resourceNames" in rule
    }


def main() -> int:
    FILE.write_text(content())
    HUB_FILE.write_text(hub_content())
    return 0


if __name__ == "__main__":
    sys.exit(main())
