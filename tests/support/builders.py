"""
Builders of small values for tests: catalogue entries, troubles, Deployments, pods and a store.
"""

from datetime import timedelta

from reporter.catalogue.entries import Catalogue, CatalogueEntry, HoldDurations, Scope, Suppression
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.model.enums import EventType, Layer, Owner, Reason, TroubleKind
from reporter.model.observations import Watching
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey
from reporter.model.verdicts import Active, Cause, InvolvedObject, ObjectRef, Trouble
from reporter.store.samples import SampleStore
from reporter.store.store import Store
from reporter.stories import format as story_format
from reporter.stories.built_objects import (
    build_condition,
    build_deployment,
    build_namespace,
    build_observed_condition,
    build_pod,
)
from tests.support.catalogue_fixture import SUBJECTS


NOON, LONG_AGO = story_format.START, story_format.LONG_AGO
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def an_entry(reason: str, rank: int | None = 10, **changes) -> CatalogueEntry:
    defaults = {
        "layer": Layer.CLUSTER,
        "type": EventType.WARNING,
        "owner": Owner.PLATFORM,
        "message_template": "{object} {state}.",
        "remedies": {"default": "look at it."},
        "probe": "none",
        "holds": HoldDurations(),
    }
    if changes.get("layer") is Layer.MODELDEPLOYMENT:
        defaults["object_kind"] = "InferenceSet"
    return CatalogueEntry(Reason(reason), rank=rank, **{**defaults, **changes})


def a_ready_entry(layer: Layer = Layer.CLUSTER) -> CatalogueEntry:
    message = "All is well again."
    name = {
        Layer.CLUSTER: "clusterReady",
        Layer.MODELHARNESS: "modelharnessReady",
        Layer.MODELDEPLOYMENT: "inferencesetReady",
    }[layer]
    return an_entry(
        name, None, layer=layer, type=EventType.NORMAL, message_template=message, probe=""
    )


def a_catalogue(*entries: CatalogueEntry, rows: tuple[Suppression, ...] = ()) -> Catalogue:
    every = (*entries, *(a_ready_entry(layer) for layer in Layer))
    return Catalogue({e.reason: e for e in every}, rows)


def a_suppression(source: str, target: str, scope: Scope = Scope.CLUSTER) -> Suppression:
    return Suppression(Reason(source), Reason(target), scope, "it has no input")


def a_key(reason: str, subject=CLUSTER_SUBJECT, item: str = "") -> FindingKey:
    return FindingKey(subject, Reason(reason), item)


def a_trouble(name: str = "thing", kind: TroubleKind = TroubleKind.DECLARED, **changes) -> Trouble:
    code = changes.pop("code", "Broken")
    defaults = {
        "object_created_at": LONG_AGO,
        "message_fields": {"object": f"Thing {name}", "state": "is broken", "pods": ""},
    }
    ref = ObjectRef("things", "system", name)
    return Trouble(Cause(ref, code), kind, **{**defaults, **changes})


INVOLVED = InvolvedObject("v1", "Namespace", "system", "uid-1")


def an_active_verdict(key: FindingKey, *troubles: Trouble) -> Active:
    return Active(key, troubles or (a_trouble(),), INVOLVED)


a_condition, an_observed_condition = build_condition, build_observed_condition
a_deployment, a_namespace, a_pod = build_deployment, build_namespace, build_pod


def a_store(*objects, crds: tuple[str, ...] = (), scrapes: SampleStore | None = None) -> Store:
    """Build a store with these objects, in which all default kinds are listed and watched."""
    store = Store(DEFAULT_KINDS, crds, scrapes, subjects=SUBJECTS)
    for kind in DEFAULT_KINDS:
        store.set_watch_state(kind, Watching())
    for each in objects:
        kind = next(kind for kind in DEFAULT_KINDS if isinstance(each, kind.type))
        store.upsert(kind, each)
    return store
