"""Render a silence: as an object with its annotations, and as an entry of the file of silences."""

from typing import Any

from reporter.kinds.core import NAMESPACES
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kinds.resource_kind import SILENCE_PREFIX
from reporter.model.silences import SilenceText


def silence_fields(text: SilenceText) -> dict[str, str]:
    """Return the annotations of a silence by name, without SILENCE_PREFIX; empty ones are left out."""
    fields = {
        "until": text.until,
        "reasons": ",".join(text.reasons),
        "why": text.why,
        "by": text.by,
    }
    return {name: value for name, value in fields.items() if value}


def annotations(text: SilenceText) -> dict[str, Any]:
    """Return the silence as a manifest: a Namespace or an InferenceSet with its annotations alone."""
    values = {SILENCE_PREFIX + name: value for name, value in silence_fields(text).items()}
    kind = INFERENCE_SETS if text.inferenceset else NAMESPACES
    place = {"namespace": text.namespace} if text.inferenceset else {}
    return {
        "apiVersion": "/".join(filter(None, (kind.group, kind.versions[0]))),
        "kind": kind.kind,
        "metadata": {
            **place,
            "name": text.inferenceset or text.namespace,
            "annotations": values,
        },
    }


def file_entry(text: SilenceText) -> dict[str, Any]:
    """Return the silence as an entry of the file of silences; empty keys are left out."""
    place = {"namespace": text.namespace, "inferenceset": text.inferenceset}
    entry = {**place, **silence_fields(text), "reasons": list(text.reasons)}
    return {name: value for name, value in entry.items() if value}
