"""
The rules by which kstatus computes the status of a custom resource.

Written from its documentation (sigs.k8s.io/cli-utils, pkg/kstatus/README.md): deletion, then the
generation, then the standard conditions Reconciling and Stalled in the order of the list, then Ready.
"""

CURRENT, IN_PROGRESS, FAILED, TERMINATING = "Current", "InProgress", "Failed", "Terminating"


def compute(found: dict) -> str:
    """Return the status of an object."""
    meta, status = found["metadata"], found.get("status") or {}
    if meta.get("deletionTimestamp"):
        return TERMINATING
    if "observedGeneration" in status and status["observedGeneration"] != meta["generation"]:
        return IN_PROGRESS
    conditions = status.get("conditions") or []
    for each in conditions:
        if each["status"] == "True" and each["type"] in {"Reconciling", "Stalled"}:
            return IN_PROGRESS if each["type"] == "Reconciling" else FAILED
    for each in conditions:
        if each["type"] == "Ready":
            return CURRENT if each["status"] == "True" else IN_PROGRESS
    return CURRENT
