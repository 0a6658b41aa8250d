"""
Write a dump of the cluster: the objects of all kinds that a reason may read, without secrets.

It is written page by page, so it needs no more memory than one of them; so what was read is said at the end.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from reporter.catalogue.entries import Catalogue
from reporter.controller.watched_kinds import crds_to_track, kinds_to_watch
from reporter.kinds.core import NAMESPACES
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.client import RestClient
from reporter.kube.decoding import Json, decode_json
from reporter.kube.errors import Expired, KubeError, Unserved
from reporter.kube.lister import get_raw, list_raw
from reporter.kube.object_redaction import without_secrets, without_secrets_in
from reporter.kube.stack_dump import DumpedKind, DumpEnd, limits_of, render_end, render_line
from reporter.kube.watch_context import WatchTiming
from reporter.kube.watch_health import describe_error
from reporter.model.enums import DetailSource
from reporter.model.observations import DiscoveryResult
from reporter.process.clock import Clock
from reporter.status.namespace_limit import read_in_all_or_one
from reporter.status.one_shot_cluster import Progress, discover_twice


NO_LIMITS = ("", "", "")
_OBJECT = msgspec.json.Decoder(dict[str, Any])

Write = Callable[[bytes], object]


def kinds_to_dump(catalogue: Catalogue) -> tuple[ResourceKind, ...]:
    """
    Return the kinds that any reason may read, those of sources that are off as well.

    A kind may be there several times with other limits: a namespace, labels or fields. If a reason reads
    it without limits, it is there once, without any.
    """
    by_limits: defaultdict[str, dict[tuple[str, str, str], ResourceKind]] = defaultdict(dict)
    for kind in kinds_to_watch(catalogue, frozenset(DetailSource)):
        by_limits[kind.group_resource].setdefault(limits_of(kind), kind)
    return tuple(
        kind
        for found in by_limits.values()
        for kind in ([found[NO_LIMITS]] if NO_LIMITS in found else found.values())
    )


class DumpWriter:
    """
    Writes the objects of a cluster. *write* is called with each line.

    *namespace*: the one to read where the objects of all namespaces may not be listed; empty for none.
    """

    def __init__(
        self,
        api: RestClient,
        clock: Clock,
        write: Write,
        *,
        namespace: str = "",
        on_progress: Progress = lambda _, __: None,
    ) -> None:
        self._api, self._clock, self._write = api, clock, write
        self._namespace, self._on_progress = namespace, on_progress
        self._timeout = WatchTiming().list_timeout

    async def run(
        self,
        catalogue: Catalogue,
        *,
        flags: tuple[str, ...] = (),
        silences: str = "",
        missing_files: tuple[str, ...] = (),
    ) -> DumpEnd:
        """
        Write all kinds, one after the other, and the end, which is returned.

        *flags*, *silences*, *missing_files*: of the cluster's reporter, as in `DumpEnd`.

        Raises KubeError if discovery fails, or if no kind at all could be read.
        """
        kinds = kinds_to_dump(catalogue)
        crds = crds_to_track(catalogue, frozenset(DetailSource))
        _, found = await discover_twice(self._api, crds)
        dumped, first_error = [], None
        for number, kind in enumerate(kinds, 1):
            said, error = await self._dump(kind, found)
            dumped.append(said)
            first_error = first_error or error
            self._on_progress(number, len(kinds))
        if first_error is not None and not any(map(_is_of_use, dumped)):
            raise first_error
        end = DumpEnd(
            self._clock.now(),
            tuple(dumped),
            groups=tuple(sorted({crd.partition(".")[2] for crd in crds})),
            failed_groups=tuple(sorted(found.failed_groups)),
            served=_of(found.served_versions, crds),
            namespaced=_of(found.namespaced, crds),
            flags=tuple(map(without_secrets_in, flags)),
            silences=without_secrets_in(silences),
            missing_files=missing_files,
        )
        self._write(render_end(end))
        return end

    async def _dump(
        self, kind: ResourceKind, found: DiscoveryResult
    ) -> tuple[DumpedKind, KubeError | None]:
        """Write the objects of a kind, and return what to say of it, with the error that ended it."""
        namespace, labels, fields = limits_of(kind)
        said = DumpedKind(kind.group_resource, namespace, labels, fields)
        served = found.served_versions.get(kind.group_resource, ())
        versions = kind.versions if kind.is_built_in else kind.readable_versions(served) or served
        if not versions and kind.group in found.failed_groups:
            return replace(said, unread="its API group could not be discovered"), None
        if not versions:
            return replace(said, not_served=True), None
        try:
            write = partial(self._write_objects, kind, versions[0])
            objects, only_in = await read_in_all_or_one(kind, self._namespace, write)
        except Unserved:
            return replace(said, not_served=True), None
        except Expired as err:
            return replace(said, unread=f"it changed while it was read: {err.why}"), err
        except KubeError as err:
            return replace(said, unread=describe_error(err)), err
        return replace(said, objects=objects, only_in=only_in), None

    async def _write_objects(self, kind: ResourceKind, version: str, namespace: str) -> int:
        """Write the objects of a namespace, or of all for the empty text, and return their number."""
        api_version = "/".join(filter(None, (kind.group, version)))
        count = 0
        async for page in self._read(kind, version, namespace):
            for each in page:
                self._write(_render(each, {"apiVersion": api_version, "kind": kind.kind}))
            count += len(page)
        return count

    def _read(
        self, kind: ResourceKind, version: str, namespace: str
    ) -> AsyncIterator[tuple[msgspec.Raw, ...]]:
        timeout = self._timeout
        if namespace and kind.table == NAMESPACES.table:
            return get_raw(self._api, kind, version, namespace, timeout=timeout)
        return list_raw(self._api, kind, version, page_timeout=timeout, namespace=namespace)


def _render(raw: msgspec.Raw, names: Json) -> bytes:
    """Return the line of an object; in a list an object has no apiVersion and kind of its own."""
    content: Json = decode_json(_OBJECT, raw)
    return render_line(without_secrets({**names, **content}))


def _is_of_use(said: DumpedKind) -> bool:
    """Return whether a kind was read; a Namespace that may be got is none of what is asked about."""
    is_got = said.only_in and said.resource == NAMESPACES.group_resource
    return not (said.unread or said.not_served or is_got)


def _of(values: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: values[name] for name in sorted(names) if name in values}
