"""
The routes, pools and Deployments of each InferenceSet that were deleted while it lives.

Nothing refers to them any more once all of them are gone, so only this tells that they existed.
"""

from collections.abc import Callable, Iterable, Mapping

from reporter.kinds.apps import DEPLOYMENTS, Deployment
from reporter.kinds.gateway_api import (
    HTTP_ROUTES,
    INFERENCE_POOLS,
    HTTPRoute,
    InferencePool,
    picker_ref,
)
from reporter.kinds.kaito import InferenceSet
from reporter.kinds.objects import ApiObject, NamespacedName, inference_set_key
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.model.verdicts import ObjectRef
from reporter.snapshot.cow_map import CowMap, FrozenMap


PART_RESOURCES = frozenset(
    {each.group_resource for each in (HTTP_ROUTES, INFERENCE_POOLS, DEPLOYMENTS)}
)

MAX_REMEMBERED = 10_000
MAX_PARTS = 8
"""The InferenceSets that are remembered, and the parts of each; the oldest are forgotten first."""


class DeletedParts:
    """The deleted parts by the index key of their InferenceSet, the last one at the end."""

    def __init__(self) -> None:
        self._deleted: CowMap[str, tuple[ObjectRef, ...]] = CowMap()
        self._keys: dict[str, None] = {}

    def on_upsert(self, old: ApiObject | None, new: ApiObject) -> None:
        """Forget a part that is there again, and those of an earlier InferenceSet of that name."""
        if not self._keys:
            return
        kind = _part_kind(new)
        if kind is not None:
            for name in _models_of(kind, new):
                for ref in _refs(kind, new):
                    self._put(name, ref, is_deleted=False)
        elif old is not None and isinstance(new, InferenceSet):
            self._forget_earlier(old, new)

    def on_delete(self, old: ApiObject, is_set_absent: Callable[[NamespacedName], bool]) -> None:
        """Remember a part of an InferenceSet that exists, or forget all parts of one."""
        kind = _part_kind(old)
        if kind is not None:
            for name in _models_of(kind, old):
                if not is_set_absent(name):
                    for ref in _refs(kind, old):
                        self._put(name, ref, is_deleted=True)
        elif isinstance(old, InferenceSet):
            self._forget(inference_set_key(old.metadata.namespace, old.metadata.name))

    def record_before(
        self, existed_of: Mapping[Subject, Iterable[ObjectRef]], missing: frozenset[ObjectRef]
    ) -> None:
        """Remember the parts that a predecessor knew and that are *missing*."""
        for subject, refs in existed_of.items():
            for ref in sorted(refs):
                if ref in missing and ref.resource in PART_RESOURCES:
                    self._put((subject.namespace, subject.name), ref, is_deleted=True)

    def forget_kind(self, kind: ResourceKind) -> None:
        """Forget the parts of a kind that is not watched any more."""
        for key in list(self._keys):
            refs = self._deleted.get(key) or ()
            self._store(key, tuple(ref for ref in refs if ref.resource != kind.group_resource))

    def _put(self, model: NamespacedName, ref: ObjectRef, *, is_deleted: bool) -> None:
        key = inference_set_key(*model)
        before = self._deleted.get(key) or ()
        if is_deleted or ref in before:
            others = tuple(each for each in before if each != ref)
            self._store(key, (*others, ref)[-MAX_PARTS:] if is_deleted else others)

    def _store(self, key: str, refs: tuple[ObjectRef, ...]) -> None:
        if not refs:
            self._forget(key)
            return
        self._deleted[key] = refs
        self._keys[key] = None
        if len(self._keys) > MAX_REMEMBERED:
            self._forget(next(iter(self._keys)))

    def _forget(self, key: str) -> None:
        if self._keys.pop(key, key) is None:
            self._deleted.pop(key)

    def _forget_earlier(self, old: ApiObject, new: InferenceSet) -> None:
        meta = new.metadata
        if old.metadata.uid != meta.uid:
            self._forget(inference_set_key(meta.namespace, meta.name))

    def snapshot(self) -> FrozenMap[str, tuple[ObjectRef, ...]]:
        return self._deleted.freeze()


_PART_RESOURCES = frozenset(
    kind.group_resource for kind in (HTTP_ROUTES, INFERENCE_POOLS, DEPLOYMENTS)
)


def _part_kind(each: ApiObject) -> ResourceKind | None:
    if isinstance(each, HTTPRoute):
        return HTTP_ROUTES
    if isinstance(each, InferencePool):
        return INFERENCE_POOLS
    return DEPLOYMENTS if isinstance(each, Deployment) else None


def _models_of(kind: ResourceKind, part: ApiObject) -> set[NamespacedName]:
    """Return the InferenceSets by which a part is looked up, existing or not."""
    return {
        (each.namespace, each.name)
        for each in kind.affects(part)
        if each.layer is Layer.MODELDEPLOYMENT and each.name
    }


def _refs(kind: ResourceKind, part: ApiObject) -> tuple[ObjectRef, ...]:
    """
    Return a part, and the endpoint picker of a pool, which nothing else may show to be a part.

    It may outlive the pool, so it is deleted only if the table of its kind says so too.
    """
    ref = ObjectRef(kind.group_resource, part.metadata.namespace, part.metadata.name)
    picker = picker_ref(part) if isinstance(part, InferencePool) else None
    return (ref,) if picker is None else (picker, ref)
