"""
Write the permissions of the chart, computed from the catalogue: `python -m e2e.chart.rights`.
"""

import sys
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import yaml

from e2e.chart import CHART
from e2e.controlplane.rules import needed, rules
from reporter.kube.objects.access_review import Permission
from reporter.kube.objects.event_format import EVENT_NAMESPACE as EVENTS
from reporter.model.enums import DetailSource
from reporter.settings import ScrapeMode


FILE = CHART / "files" / "rights.yaml"
HEADER = """\
# Generated from the catalogue by `python -m e2e.chart.rights`; a test compares.
# read, sources, statusObjects, podProxy: in the whole cluster. events: in kube-system. store: in the
# namespace of the release. lease: in the namespace of the pods, with the name of the Lease where
# `named`.
"""
LEASE = ("namespace of the pods", "the Lease")
STORE = "namespace of the release"

Json = dict[str, Any]


def content() -> str:
    everywhere = needed(mode=ScrapeMode.DIRECT)
    with_lease = needed(mode=ScrapeMode.DIRECT, lease=LEASE) - everywhere
    events = {right for right in everywhere if right.namespace == EVENTS}
    granted = {
        "read": _compact(everywhere - events),
        "sources": {
            each.value: _compact(needed(mode=ScrapeMode.DIRECT, sources=[each]) - everywhere)
            for each in DetailSource
        },
        "statusObjects": _compact(
            needed(mode=ScrapeMode.DIRECT, status_objects=True) - everywhere
        ),
        "podProxy": _compact(needed(mode=ScrapeMode.AUTO) - everywhere),
        "events": _compact(events),
        "store": _compact(needed(mode=ScrapeMode.DIRECT, store=STORE) - everywhere),
        "lease": [_unnamed(rule) for rule in _compact(with_lease)],
    }
    return HEADER + yaml.safe_dump(granted, sort_keys=False, default_flow_style=None, width=100)


def _compact(rights: Iterable[Permission]) -> list[Json]:
    """
    Merge the rules of a group that differ only in their resources.
    """
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
    """
    Leave the name out of a rule: it is a value of the chart.
    """
    return {key: rule[key] for key in ("apiGroups", "resources", "verbs")} | {
        "named": "resourceNames" in rule
    }


def main() -> int:
    FILE.write_text(content())
    return 0


if __name__ == "__main__":
    sys.exit(main())
