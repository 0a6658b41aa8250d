"""The pages of the hub: ``/status/v1``, and ``/status`` for diagnosis."""

import json
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

import msgspec

from reporter import PROGRAM_NAME
from reporter.hub import fleet_v1
from reporter.hub.document import FleetView
from reporter.server.served_document import ServedDocument


CLUSTER_PATH = "/status/v1/clusters/{cluster}"

FLEET_DOCUMENT = ServedDocument(
    ("/status/v1", CLUSTER_PATH),
    fleet_v1.parse_request,
    fleet_v1.find_missing,
    fleet_v1.revision_of,
    fleet_v1.render,
    fleet_v1.find_unavailable,
)


def render_diagnosis(
    view: FleetView, identity: str, permissions: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the page: this process, its queries and what they leave out, without the clusters."""
    page = {
        "process": {
            "version": version(PROGRAM_NAME),
            "identity": identity,
            "leading": not view.not_leading,
            "permissions": permissions,
        },
        "fleet": msgspec.to_builtins(view.summary()),
    }
    yield json.dumps(page, indent=2) + "\n"
