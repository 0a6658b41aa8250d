"""The shipped catalogue, and the default flags."""

from pathlib import Path

from reporter.catalogue.entries import Catalogue, CatalogueEntry
from reporter.cli.configuration import load_shipped_catalogue
from reporter.evaluation.registry import SPECS
from reporter.kinds.core import NAMESPACES
from reporter.model.enums import Layer, Reason
from reporter.model.subjects import CLUSTER_SUBJECT
from reporter.probes.probe import ProbeRequest
from reporter.settings import load_settings
from reporter.stories.format import START


DEFAULT_FLAGS = load_settings(
    [], {}, hostname="laptop", namespace_file=Path("/nowhere")
).flag_texts
DEFAULT_CATALOGUE = load_shipped_catalogue()
SUBJECTS = DEFAULT_CATALOGUE.subject_definitions
[HARNESS_LABEL] = SUBJECTS.of_kind(NAMESPACES).labels
"""
The label that makes a namespace a workload namespace, whose Gateway and models are evaluated.
"""


def reasons_of(layer: Layer) -> Catalogue:
    """Return the shipped catalogue with the reasons of one layer alone."""
    whole = DEFAULT_CATALOGUE
    entries = {r: each for r, each in whole.entries.items() if each.layer is layer}
    rows = [each for each in whole.suppressions if {each.source, each.target} <= entries.keys()]
    return Catalogue(entries, tuple(rows), subject_definitions=whole.subject_definitions)


def entries_called_by_default(layer: Layer) -> tuple[CatalogueEntry, ...]:
    """Return the evaluated reasons of a layer, without those that need a source."""
    entries = DEFAULT_CATALOGUE.evaluated_entries(layer)
    return tuple(each for each in entries if SPECS[each.probe].is_called(()))


def a_probe_request(reason: str, **flags: str) -> ProbeRequest:
    """Return the request to the probe of a cluster reason; *flags* in snake case."""
    given = {name.replace("_", "-"): value for name, value in flags.items()}
    unknown = given.keys() - DEFAULT_FLAGS.keys()
    assert not unknown, f"no such flag: {unknown}"
    entry = DEFAULT_CATALOGUE[Reason(reason)]
    return ProbeRequest(
        entry.reason, CLUSTER_SUBJECT, entry.parameters, {**DEFAULT_FLAGS, **given}, START
    )
