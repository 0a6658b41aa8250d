"""A cluster at one moment, and what evaluates it."""

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from reporter.catalogue.entries import Catalogue
from reporter.catalogue.silence_file import read_silence_file
from reporter.controller.enabled_scrapes import find_scrapes
from reporter.controller.evaluation_settings import make_evaluation_settings
from reporter.controller.watched_kinds import crds_to_track, kinds_to_watch
from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.probe_fault_log import ProbeFaultLog
from reporter.evaluation.registry import PROBES, SPECS
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.watch_events import UndecodableObject
from reporter.model.sanitize import abbreviate_list
from reporter.settings import Settings
from reporter.snapshot.snapshot import Snapshot
from reporter.store.samples import SampleStore
from reporter.store.store import Store


class Observations(Struct, frozen=True):
    """A cluster at one moment. *notes*: what was not read and why, for the user."""

    snapshot: Snapshot
    at: datetime
    notes: tuple[str, ...] = ()


def make_store(settings: Settings, catalogue: Catalogue) -> Store:
    """
    Return a store for what the evaluated reasons read, empty but for the silences of a file in the settings.
    """
    store = Store(
        kinds_to_watch(catalogue, settings.sources),
        crds_to_track(catalogue, settings.sources),
        SampleStore(find_scrapes(catalogue, SPECS, settings.flag_texts)),
        subjects=catalogue.subject_definitions,
    )
    if settings.silence_file is not None:
        store.record_silence_file(read_silence_file(settings.silence_file))
    return store


def describe_undecodable(
    kind: ResourceKind, undecodable: Iterable[UndecodableObject]
) -> list[str]:
    """Describe the objects of a list that could not be decoded, for *notes*."""
    return [
        f"{kind.group_resource} {'/'.join(filter(None, each.name))} cannot be decoded: {each.why}"
        for each in undecodable
    ]


MAX_NAMED = 4
"""The kinds that a note names, of those that were not seen."""


def describe_only_in(namespace: str, unseen: Iterable[str] = ()) -> str:
    """Describe a reading with the rights of one namespace, for *notes*; *unseen*: kinds not seen at all."""
    names = abbreviate_list([name.partition(".")[0] for name in unseen], MAX_NAMED)
    return f"only namespace {namespace} may be read" + (f"; not seen: {names}" if names else "")


def make_evaluator(settings: Settings, catalogue: Catalogue) -> Evaluator:
    """Return an evaluator of the built-in probes, which logs their faults instead of raising them."""
    return Evaluator(
        catalogue,
        PROBES,
        settings.flag_texts,
        make_evaluation_settings(settings, reads_once=True),
        ProbeFaultLog().log,
    )
