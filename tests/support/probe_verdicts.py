"""Run a probe as a pass does, and read its verdict."""

from collections.abc import Sequence

from reporter.evaluation.probe_run import run_probe
from reporter.evaluation.registry import PROBES
from reporter.model.verdicts import Active, Trouble, Verdict
from reporter.probes.probe import ProbeRequest
from reporter.snapshot.lookups import UndecodableIndex, check_lookups
from reporter.store.store import Store
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


def verdicts_of_request(request: ProbeRequest, store: Store) -> Sequence[Verdict]:
    """Return the verdicts of a reason's probe, run as a pass runs it."""
    probe = PROBES[DEFAULT_CATALOGUE[request.reason].probe]
    snapshot = store.snapshot()
    undecodable = UndecodableIndex(snapshot.undecodable)
    return run_probe(probe, check_lookups(snapshot, probe.spec, {}, undecodable), request)


def only_trouble(verdict: Verdict) -> Trouble:
    assert isinstance(verdict, Active), verdict
    (trouble,) = verdict.troubles
    return trouble
