"""Read and write the annotations of a namespace or InferenceSet that silence findings about it."""

from collections.abc import Mapping

import msgspec

from reporter.kinds import resource_kind
from reporter.kube.client import MERGE_PATCH, RestClient
from reporter.kube.decoding import Json, decode_response
from reporter.kube.errors import NotFound, Unserved
from reporter.kube.paths import collection_path


class _Meta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    annotations: dict[str, str] | None = None
    labels: dict[str, str] | None = None


class _PartialObject(msgspec.Struct):
    metadata: _Meta


_DECODER = msgspec.json.Decoder(_PartialObject)


class SilencedObject(msgspec.Struct, frozen=True):
    """
    An object whose silence is to change, as it was read.

    *annotations* and *labels*: those of its silence, by the name without SILENCE_PREFIX; empty
    without one.
    """

    path: str
    resource_version: str
    annotations: Mapping[str, str]
    labels: Mapping[str, str]


async def read_silenced_object(
    api: RestClient, kind: resource_kind.ResourceKind, namespace: str, name: str
) -> SilencedObject:
    """Read an object in the first version of its kind that is served. Raises KubeError."""
    operation = f"read {kind.kind} {'/'.join(filter(None, (namespace, name)))}"
    for version in kind.versions:
        path = f"{collection_path(kind, version, namespace)}/{name}"
        try:
            response = await api.call("GET", path, operation=operation)
        except (NotFound, Unserved) as err:
            if err.is_from_api_server:
                raise  # a version that is not served has no Status
            continue
        what = f"a {kind.kind}"
        meta = decode_response(_DECODER, response.body, operation, expected=what).metadata
        return SilencedObject(
            path,
            meta.resource_version,
            resource_kind.silence_fields(meta.annotations),
            resource_kind.silence_fields(meta.labels),
        )
    raise NotFound(operation, message=f"{kind.group_resource} is not served")


async def silence_object(
    api: RestClient, found: SilencedObject, fields: Mapping[str, str]
) -> None:
    """
    Replace the annotations of a silence. Raises Conflict if the object has changed since it was read.

    *fields*: their values, by the name without SILENCE_PREFIX; an annotation that it lacks is removed.
    """
    # A misspelled one that stays would make the new silence malformed.
    names = dict.fromkeys((*resource_kind.SILENCE_FIELDS, *found.annotations))
    values = {resource_kind.SILENCE_PREFIX + name: fields.get(name) or None for name in names}
    await _change_metadata(api, found, {"annotations": values})


async def end_silence(api: RestClient, found: SilencedObject) -> None:
    """
    Remove the annotations and labels of a silence. Raises Conflict if the object has changed since.
    """
    gone = {
        field: {resource_kind.SILENCE_PREFIX + name: None for name in names}
        for field, names in (("annotations", found.annotations), ("labels", found.labels))
        if names
    }
    await _change_metadata(api, found, gone)


async def _change_metadata(api: RestClient, found: SilencedObject, fields: Json) -> None:
    await api.call(
        "PATCH",
        found.path,
        body={"metadata": {"resourceVersion": found.resource_version, **fields}},
        content_type=MERGE_PATCH,
        operation=f"annotate {found.path}",
    )
