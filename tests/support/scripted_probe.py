"""A probe whose verdicts a test sets: it reads them from nothing that the snapshot has."""

from collections.abc import Callable, Iterable
from typing import Any

from reporter.catalogue.entries import ProbeSpec
from reporter.model.verdicts import Verdict
from reporter.probes.probe import Probe, ProbeRequest
from reporter.snapshot.noted_reads import DIFFERS
from reporter.snapshot.snapshot import Snapshot


def a_scripted_probe(
    evaluate: Callable[[Snapshot, ProbeRequest], Iterable[Verdict]], **spec: Any
) -> Probe:
    """Build a probe of a function that may return something else for the same snapshot."""

    def ask(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
        if request.notes is not None:
            request.notes.add(DIFFERS)
        return evaluate(snapshot, request)

    return Probe(ProbeSpec("none", object, **spec), ask)
