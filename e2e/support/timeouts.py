"""The reporter's delays, as short as the tests can have them."""

import json

from e2e.controlplane import ControlPlane
from reporter.model.enums import Layer
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS


GRACE, SETTLE = 2, 3
SHORT_FLAGS = (f"--startup-grace-seconds={GRACE}", f"--settle-seconds={SETTLE}")
PROMPT_TIMEOUT = 30
"""The time limit, in seconds, of a step that takes less than one second on an idle machine."""

DEPLOYMENT_REASONS = tuple(
    str(entry.reason)
    for entry in DEFAULT_CATALOGUE.evaluated_entries(Layer.CLUSTER)
    if entry.probe == "deployments"
    and any(each.name or DEFAULT_FLAGS[each.name_flag] for each in entry.parameters.components)
)
"""The reasons about Deployments that are checked with the default flags."""


def short_holds_flag(plane: ControlPlane) -> str:
    """Return the flag that holds hard errors and losses for a second instead of 15 and 30."""
    return holds_overlay_flag(plane, {"failed": "1s", "lost": "1s"})


def holds_overlay_flag(plane: ControlPlane, hold: dict[str, str]) -> str:
    """Return the flag that sets these holds for the cluster's reasons."""
    reasons = (*DEPLOYMENT_REASONS, "clusterCRDMissing")
    path = plane.folder / f"{'-'.join(hold.values())}.overlay.yaml"
    path.write_text(json.dumps({"reasons": {reason: {"hold": hold} for reason in reasons}}))
    return f"--catalogue-overlay={path}"
