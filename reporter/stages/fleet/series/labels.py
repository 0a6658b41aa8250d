"""
The labels of the series of the status: those of a reporter's metrics, and those of its target.
"""

from collections.abc import Mapping

from reporter.model.fleet.answers import Source
from reporter.model.rollup.states import COUNTED_STATES, State


NAME = "__name__"
PREFIX = "productionstack_status_reporter_rollup_"
"""
The prefix of the metrics of the status. A test compares it and the names with their declarations.
"""

STATE, INFERENCE_SETS, REPLICAS = "state", "inferencesets", "replicas"
PACKAGE_INFO, BLOCKING_INFO, CLUSTER_INFO = "package_info", "blocking_info", "cluster_info"
SILENCED_UNTIL = "blocking_silenced_until_timestamp_seconds"
EVALUATED = "evaluated_timestamp_seconds"

CLUSTER_SCOPE, NAMESPACE_SCOPE = "cluster", "namespace"
"""The values of the label ``scope``."""

METRIC_LABELS = frozenset(
    {
        NAME, "scope", "workload_namespace", "state", "count", "package", "revision", "reason",
        "code", "actionability", "stalled", "version", "cluster_uid",
    }
)  # fmt: skip
"""The labels of the metrics themselves. All others are of the target, or of the pipeline."""

STATES: Mapping[str, State] = {each.key: each for each in COUNTED_STATES}
"""The states by the value of the label ``state``."""

MAX_LENGTH = 253
"""The longest cluster label that is taken: that of the name of an object."""

MAX_SHOWN = 100
UNIT, PAIR = "\x1f", "="


def source_of(labels: Mapping[str, str]) -> Source:
    """Return what identifies the source of a series. The cluster label is a part of it."""
    return UNIT.join(
        sorted(f"{name}{PAIR}{text}" for name, text in labels.items() if name not in METRIC_LABELS)
    )


def describe(labels: Mapping[str, str]) -> str:
    """Return a text by which a person finds where a series without a cluster label comes from."""
    uid = labels.get("cluster_uid", "")
    target = [f"{name}={labels[name]}" for name in ("job", "instance", "pod") if labels.get(name)]
    shown = ([f"cluster_uid={uid}"] if uid else []) + target
    text = " ".join(shown)[:MAX_SHOWN] or "no target labels"
    return text if text.isprintable() else ascii(text)


def text_of(labels: Mapping[str, str], name: str) -> str:
    """Return the text of a label, fit to be shown in a terminal."""
    text = labels.get(name, "")[:MAX_LENGTH]
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def is_valid(label: str) -> bool:
    """
    Return whether a text may be the name of a cluster: it is shown in terminals and on pages.
    """
    return len(label) <= MAX_LENGTH and label.isprintable()
