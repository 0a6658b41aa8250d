"""Find the silences that are written: in the file, and on namespaces and InferenceSets."""

from collections.abc import Iterator

from reporter.model.kinds.base.objects import ApiObject
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.base.silencing import (
    SILENCE_FIELDS,
    SILENCE_KEY,
    SILENCE_PREFIX,
    silence_annotations,
    silence_labels,
)
from reporter.model.kinds.core.namespaces import NAMESPACES
from reporter.model.kinds.kaito.inference_sets import INFERENCE_SETS
from reporter.model.silences import SilenceText
from reporter.model.text.suggest import suggest
from reporter.model.verdicts import ObjectRef
from reporter.stages.silences.checking import quoted
from reporter.stages.snapshot.snapshot import Snapshot


SEPARATOR, LABEL_SEPARATOR = ",", "."
"""The characters between reasons: the value of a label may not contain the first."""

BOTH_FORMS = (
    "is written in labels and in annotations ({fields}); remove one of them, so that it is plain"
    " which one counts"
)

NOT_DECODED = "the newest version of the object cannot be decoded, so it may be silenced no longer"


def written_silences(snapshot: Snapshot) -> Iterator[SilenceText]:
    """Yield the silences that are written, valid or not."""
    file = snapshot.silence_file
    if file.problem:
        yield SilenceText(file.path, problem=file.problem)
    yield from file.silences
    for kind in (NAMESPACES, INFERENCE_SETS):
        if kind.resource in snapshot.tables:
            for each in snapshot.by_index(kind, ApiObject, SILENCE_KEY):
                ref = ObjectRef(kind.watch_name, each.metadata.namespace, each.metadata.name)
                yield _of_object(kind, each, is_decodable=ref not in snapshot.undecodable)


def _of_object(kind: ResourceKind, each: ApiObject, *, is_decodable: bool) -> SilenceText:
    meta, annotations, labels = each.metadata, silence_annotations(each), silence_labels(each)
    is_set = kind.resource == INFERENCE_SETS.resource
    namespace, name = (meta.namespace, meta.name) if is_set else (meta.name, "")
    origin = " ".join((kind.kind, "/".join(filter(None, (namespace, name)))))
    if not is_decodable:
        return SilenceText(origin, namespace, name, problem=NOT_DECODED)
    if annotations and labels:
        both = sorted(SILENCE_PREFIX + field for field in {*annotations, *labels})
        problem = BOTH_FORMS.format(fields=", ".join(both))
        return SilenceText(origin, namespace, name, problem=problem)
    fields = annotations or labels
    unknown = sorted(fields.keys() - SILENCE_FIELDS)
    if unknown:
        problem = "; ".join(map(_why_unknown, unknown))
        return SilenceText(origin, namespace, name, problem=problem)
    return SilenceText(
        origin,
        namespace,
        name,
        _split(fields.get("reasons", "")),
        fields.get("until", ""),
        fields.get("why", ""),
        fields.get("by", ""),
    )


def _why_unknown(field: str) -> str:
    known = f"known are {', '.join(SILENCE_FIELDS)}, about the object that has them"
    help_ = suggest(field, SILENCE_FIELDS, otherwise=known, form="`silence-{}`")
    return f"`{quoted(f'silence-{field}')}` is unknown: {help_}"


def _split(text: str) -> tuple[str, ...]:
    names = text.replace(LABEL_SEPARATOR, SEPARATOR).split(SEPARATOR)
    return tuple(each.strip() for each in names) if text.strip() else ()
