"""Names of groups and resources of the API that the flags know too."""

GROUP = "reporter.productionstack.kaito.sh"
"""The group of the program's own kinds."""

NVSENTINEL_KINDS = {
    "healtheventresources": "HealthEventResource",
    "healthevents": "HealthEvent",
}
"""The kinds of NVSentinel by their resources: that of its chart, and that of its design (ADR-027)."""

NVSENTINEL_RESOURCE = "healtheventresources.healthevents.dgxc.nvidia.com"
