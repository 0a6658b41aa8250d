"""
How long the reporter waits, as short as the tests can have it.
"""

import json

from e2e.controlplane import ControlPlane


GRACE, SETTLE = 2, 3
QUICK = (f"--startup-grace-seconds={GRACE}", f"--settle-seconds={SETTLE}")
AT_ONCE = 3
"""
The seconds that a test allows for what must happen within one.
"""

DEPLOYMENT_REASONS = (
    "clusterIstioControlPlaneNotReady",
    "clusterGatewayAuthNotReady",
    "clusterBBRNotReady",
    "clusterKaitoControllerNotReady",
    "clusterKedaNotReady",
    "clusterKedaKaitoScalerNotReady",
)


def impatient(plane: ControlPlane) -> str:
    """
    The flag with which hard errors and losses count after a second instead of 15 and 30.
    """
    hold = {"hold": {"failed": "1s", "lost": "1s"}}
    overlay = {"reasons": dict.fromkeys((*DEPLOYMENT_REASONS, "clusterCRDMissing"), hold)}
    path = plane.folder / "impatient.yaml"
    path.write_text(json.dumps(overlay))
    return f"--catalogue-overlay={path}"
