"""Cause codes of failed pods, from the reason that the kubelet gives."""

FAILED, OUT_OF_RESOURCE = "Failed", "OutOfResource"
KUBELET_REASONS = frozenset(
    {
        "Evicted",
        "NodeAffinity",
        "NodeShutdown",
        "Preempting",
        "Terminated",
        "TopologyAffinityError",
        "UnexpectedAdmissionError",
    }
)
"""Reasons for which a kubelet ends or refuses a pod, beside OutOf<resource>."""

FAILURE_CODES = KUBELET_REASONS | {FAILED, OUT_OF_RESOURCE}


def failure_code(reason: str) -> str:
    """Return the cause code of a failed pod; a reason that is not known is simply a failure."""
    if reason.startswith("OutOf"):
        return OUT_OF_RESOURCE
    return reason if reason in KUBELET_REASONS else FAILED
