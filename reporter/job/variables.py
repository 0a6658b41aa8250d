"""The environment variables of the sidecar: names, defaults and what they mean."""

from collections.abc import Mapping

from msgspec import Struct


class Variable(Struct, frozen=True):
    """
    One environment variable. *default*: empty for none.

    *is_required*: the sidecar does not start without it.
    """

    name: str
    help: str
    default: str = ""
    is_required: bool = False


SIDECAR_CONTAINER = "status-reporter"
"""The usual name of the sidecar's own container."""

VARIABLES: tuple[Variable, ...] = (
    Variable("JOB_NAME", "Name of the Job to write to.", is_required=True),
    Variable("JOB_NAMESPACE", "Namespace of the Job and of the pod.", is_required=True),
    Variable("POD_NAME", "Name of the pod that the sidecar runs in.", is_required=True),
    Variable(
        "RESULTS_PATH",
        "Absolute path of the result file.",
        "/results/adapter-result.json",
    ),
    Variable("POLL_INTERVAL_SECONDS", "Seconds between two looks at the file.", "2"),
    Variable(
        "MAX_WAIT_TIME_SECONDS",
        "Seconds until AdapterTimeout; more than POLL_INTERVAL_SECONDS.",
        "300",
    ),
    Variable("CONDITION_TYPE", "Type of the condition.", "Available"),
    Variable("LOG_LEVEL", "Accepted for compatibility; has no effect.", "info"),
    Variable(
        "ADAPTER_CONTAINER_NAME",
        "Name of the container that writes the file. Without it: the first, by name, that is not "
        "the sidecar.",
    ),
    Variable(
        "CONTAINER_NAME",
        "Name of the sidecar's own container, if it is not the default.",
        SIDECAR_CONTAINER,
    ),
    Variable(
        "REREAD_INVALID_RESULT",
        "An invalid file counts only if it is unchanged a poll later. false: it counts at once.",
        "true",
    ),
    Variable(
        "LOOK_ON_SIGTERM",
        "Look once more at SIGTERM, and report what is there. false: leave at once.",
        "true",
    ),
    Variable(
        "NATIVE_SIDECAR",
        "Stay after the report until SIGTERM. auto: if the pod has this container as a native "
        "sidecar.",
        "auto",
    ),
)

DEFAULTS: Mapping[str, str] = {each.name: each.default for each in VARIABLES}
