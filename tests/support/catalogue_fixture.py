"""
The shipped catalogue, and the default flags.
"""

from collections.abc import Sequence
from pathlib import Path

from reporter.cli.configuration import load_shipped_catalogue
from reporter.model.enums import Reason
from reporter.model.subjects import CLUSTER_SUBJECT
from reporter.model.verdicts import Verdict
from reporter.settings import load_settings
from reporter.stages.evaluation.probe_run import run_probe
from reporter.stages.probes import PROBES
from reporter.stages.probes.probe import ProbeRequest
from reporter.stages.snapshot.lookups import check_lookups
from reporter.stages.snapshot.undecodable import UndecodableObjects
from reporter.stages.store.store import Store


DEFAULT_FLAGS = load_settings(
    [], {}, hostname="laptop", namespace_file=Path("/nowhere")
).flag_texts
DEFAULT_CATALOGUE = load_shipped_catalogue()


def a_probe_request(reason: str, **flags: str) -> ProbeRequest:
    """
    Return the request to the probe of a cluster reason; *flags* in snake case.
    """
    given = {name.replace("_", "-"): value for name, value in flags.items()}
    unknown = given.keys() - DEFAULT_FLAGS.keys()
    assert not unknown, f"no such flag: {unknown}"
    entry = DEFAULT_CATALOGUE[Reason(reason)]
    return ProbeRequest(
        entry.reason, CLUSTER_SUBJECT, entry.parameters, {**DEFAULT_FLAGS, **given}
    )


def verdicts_of_request(request: ProbeRequest, store: Store) -> Sequence[Verdict]:
    """
    Return the verdicts of a reason's probe, run as a pass runs it.
    """
    probe = PROBES[DEFAULT_CATALOGUE[request.reason].probe]
    snapshot = store.snapshot()
    undecodable = UndecodableObjects(snapshot.undecodable)
    return run_probe(probe, check_lookups(snapshot, probe.spec, {}, undecodable), request)
