"""The observations of one moment, and their evaluation."""

from collections.abc import Iterable
from datetime import datetime

from msgspec import Struct

from reporter.catalogue.silences import read_silence_file
from reporter.kube.watch_events import UndecodableObject
from reporter.model.catalogue.entries import Catalogue
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.runtime.inputs import scrape_config
from reporter.runtime.inputs.evaluation_settings import make_evaluation_settings
from reporter.runtime.inputs.permissions import crds_to_track, kinds_to_watch
from reporter.runtime.process.probe_faults import ProbeFaultLog
from reporter.settings import Settings
from reporter.stages.pipeline import Evaluator
from reporter.stages.probes import PROBES
from reporter.stages.probes.specs import SPECS
from reporter.stages.snapshot.snapshot import Snapshot
from reporter.stages.store.samples import SampleStore
from reporter.stages.store.store import Store


class Observations(Struct, frozen=True):
    """A cluster at one moment. *notes*: what was not read and why, for the user."""

    snapshot: Snapshot
    at: datetime
    notes: tuple[str, ...] = ()


def make_store(settings: Settings, catalogue: Catalogue) -> Store:
    """Make an empty store for what the evaluated reasons read."""
    store = Store(
        kinds_to_watch(catalogue, SPECS, settings.sources),
        crds_to_track(catalogue, SPECS, settings.sources),
        SampleStore(scrape_config.find_scrapes(catalogue, SPECS, settings.flag_texts)),
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


def make_evaluator(settings: Settings, catalogue: Catalogue) -> Evaluator:
    return Evaluator(
        catalogue,
        PROBES,
        settings.flag_texts,
        make_evaluation_settings(settings),
        ProbeFaultLog().log,
    )
