"""
The annotations and labels of a namespace or InferenceSet that silence findings about it.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from reporter.model.kinds.base.objects import ApiObject


SILENCE_PREFIX = "reporter.productionstack.kaito.sh/silence-"
SILENCE_FIELDS = ("until", "reasons", "why", "by")
SILENCE_KEY = "silenced"
"""
The index key of the objects with such an annotation or label.
"""


class SilenceAnnotations(
    Struct, frozen=True, gc=False, rename=lambda field: f"{SILENCE_PREFIX}{field}"
):
    """
    The only annotations that are read of a kind whose others change often.
    """

    until: str | None = None
    reasons: str | None = None
    why: str | None = None
    by: str | None = None

    def get(self, name: str) -> str | None:
        """
        Return the value of an annotation, as a dict would.
        """
        field = name.removeprefix(SILENCE_PREFIX)
        found: str | None = getattr(self, field) if field in SILENCE_FIELDS else None
        return found


def silence_annotations(each: ApiObject) -> Mapping[str, str]:
    """
    Return the annotations about a silence, by what follows the prefix.
    """
    # An object of which only the metadata could be decoded has no annotations.
    annotations = getattr(each.metadata, "annotations", None)
    return {} if annotations is None else _fields(annotations.get)


def silence_labels(each: ApiObject) -> Mapping[str, str]:
    """
    Return the labels about a silence, by what follows the prefix.
    """
    labels = each.metadata.labels
    return _fields(labels.get) if labels else {}


def _fields(get: Callable[[str], Any]) -> Mapping[str, str]:
    values = {field: get(SILENCE_PREFIX + field) for field in SILENCE_FIELDS}
    return {field: value for field, value in values.items() if value is not None}


def silence_keys(each: ApiObject) -> tuple[str, ...]:
    """
    Return the index keys of an object that silences something; none for any other.
    """
    return (SILENCE_KEY,) if silence_annotations(each) or silence_labels(each) else ()
