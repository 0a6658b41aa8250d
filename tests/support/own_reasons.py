"""
Reasons in CEL: a catalogue with an overlay, a store of the kinds that it declares, and verdicts.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from reporter.catalogue.entries import Catalogue
from reporter.catalogue.loader import default_folder, load_catalogue
from reporter.controller.watched_kinds import crds_to_track, kinds_to_watch
from reporter.evaluation.clocks import NOTHING_TRACKED
from reporter.evaluation.probe_run import prepare_probe_run
from reporter.evaluation.registry import PROBES, SPECS
from reporter.kinds.objects import ApiObject
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Layer, Reason
from reporter.model.observations import DiscoveryResult, Watching
from reporter.model.subjects import Subject
from reporter.model.verdicts import Verdict
from reporter.settings import FLAG_NAMES
from reporter.store.store import Store
from tests.support.builders import MINUTE, NOON
from tests.support.catalogue_fixture import DEFAULT_FLAGS


TEAM = "team-a"
HARNESS = Subject(Layer.MODELHARNESS, TEAM)
REASON = Reason("modelharnessServiceNotReady")
SERVICE = {
    "kind": "InferenceService",
    "group": "serving.kserve.io",
    "resource": "inferenceservices",
}
READY = 'object.status.conditions.exists(c, c.type == "Ready" && c.status == "True")'


def a_reason(**changes: Any) -> dict[str, Any]:
    """Return an entry; *changes* of its parameters have the names of CEL's keys."""
    top = {
        "reason",
        "layer",
        "rank",
        "orthogonal",
        "message",
        "hold",
        "grace",
        "remedy",
        "enabled",
    }
    entry: dict[str, Any] = {
        "reason": REASON,
        "layer": "modelharness",
        "type": "Warning",
        "owner": "user",
        "rank": 80,
        "probe": "cel",
        "message": "Namespace {namespace}: {object} {state} ({count}).",
        "remedy": {"default": "See it."},
    }
    entry |= {key: value for key, value in changes.items() if key in top}
    given = {key: value for key, value in changes.items() if key not in top}
    entry["parameters"] = {"kind": "InferenceService", "current": READY, **given}
    return {key: value for key, value in entry.items() if value is not None}


def an_overlay(*entries: Mapping[str, Any], kinds: Iterable[Mapping[str, Any]] = ()) -> str:
    return json.dumps({"kinds": [SERVICE, *kinds], "add": [*entries]})


def own_catalogue(overlay: str) -> Catalogue:
    """Return the shipped catalogue with an overlay. Raises CatalogueError if it is refused."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "overlay.yaml"
        file.write_text(overlay)
        return load_catalogue(default_folder(), file, specs=SPECS, flags=FLAG_NAMES)


class OwnStore:
    """A store of what a catalogue reads, in which every kind is listed."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        kinds = kinds_to_watch(catalogue)
        self.store = Store(kinds, crds_to_track(catalogue), subjects=catalogue.subject_definitions)
        for kind in kinds:
            self.store.set_watch_state(kind, Watching())
        for when in (NOON - MINUTE, NOON):
            self.store.record_discovery(DiscoveryResult({}), now=when)

    def kind(self, name: str = "InferenceService") -> ResourceKind:
        return next(k for k in self.store.kinds if k.is_declared and k.kind == name)

    def put(self, kind: str = "InferenceService", **content: Any) -> ApiObject:
        """
        Store an object as the API server sends it; *metadata* is merged into what every object has.
        """
        metadata = {"name": "chat", "namespace": TEAM, "uid": "u", "generation": 1}
        metadata |= content.pop("metadata", {})
        watched = self.kind(kind)
        made = msgspec.json.decode(
            msgspec.json.encode({"metadata": metadata, **content}), type=watched.type
        )
        kept = made if watched.bounded is None else watched.bounded(made)
        self.store.upsert(watched, kept)
        return kept

    def verdict(self, subject: Subject = HARNESS, reason: str = REASON, **flags: str) -> Verdict:
        """Return the verdict as a pass has it."""
        run = prepare_probe_run(
            self.store.snapshot(),
            NOTHING_TRACKED,
            self.catalogue,
            PROBES,
            flags={**DEFAULT_FLAGS, **flags},
            now=NOON,
        )
        (found,) = [each for each in run.run([subject]) if each.key.reason == reason]
        return found


def an_own_store(*entries: Mapping[str, Any], kinds: Iterable[Mapping[str, Any]] = ()) -> OwnStore:
    return OwnStore(own_catalogue(an_overlay(*(entries or (a_reason(),)), kinds=kinds)))


def ready(status: str, reason: str = "Because", message: str = "so") -> dict[str, Any]:
    """Return a status with the condition Ready."""
    condition = {"type": "Ready", "status": status, "reason": reason, "message": message}
    return {"conditions": [{"type": "Other", "status": "True"}, condition]}
