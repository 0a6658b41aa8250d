"""The annotations and labels of a namespace or InferenceSet that silence findings about it."""

from collections.abc import Mapping

from reporter.model.kinds.base.objects import ApiObject


SILENCE_PREFIX = "reporter.productionstack.kaito.sh/silence-"
SILENCE_FIELDS = ("until", "reasons", "why", "by")
SILENCE_KEY = "silenced"
"""The index key of the objects with such an annotation or label."""


def silence_annotations(each: ApiObject) -> Mapping[str, str]:
    """Return the annotations about a silence, by what follows the prefix."""
    # An object of which only the metadata could be decoded has no annotations.
    annotations = getattr(each.metadata, "annotations", None)
    return silence_fields(annotations)


def silence_labels(each: ApiObject) -> Mapping[str, str]:
    """Return the labels about a silence, by what follows the prefix."""
    return silence_fields(each.metadata.labels)


def silence_fields(values: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return those that begin with the prefix, misspelled ones among them, by what follows it."""
    return {
        name.removeprefix(SILENCE_PREFIX): value
        for name, value in (values or {}).items()
        if name.startswith(SILENCE_PREFIX)
    }


def silence_keys(each: ApiObject) -> tuple[str, ...]:
    """Return the index keys of an object that silences something; none for any other."""
    return (SILENCE_KEY,) if silence_annotations(each) or silence_labels(each) else ()
