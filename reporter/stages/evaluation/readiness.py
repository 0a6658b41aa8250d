"""Find the subjects that are not ready, whose Ready Event would not be true."""

from collections.abc import Mapping

from reporter.model.catalogue.entries import Catalogue
from reporter.model.subjects import Subject
from reporter.stages.evaluation.clocks import Gate
from reporter.stages.probes.probe import Probe


def unsettled_subjects(
    gate: Gate, catalogue: Catalogue, probes: Mapping[str, Probe]
) -> frozenset[Subject]:
    """
    Return the subjects with a ranked reason that has not settled or is Unknown.

    A metrics page that cannot be read shows no trouble, unless trouble was seen before. So Unknown for
    its sake does not keep a model whose objects are all ready from being announced as such. Where more
    pages will show the state, they are waited for.
    """
    ranked = [each for each in catalogue.entries.values() if not each.orthogonal]
    reading = {e.reason for e in ranked if e.probe and probes[e.probe].spec.scrape is not None}
    reasons = {each.reason for each in ranked}
    return frozenset(key.subject for key in gate.finding_states if key.reason in reasons).union(
        key.subject
        for key, unknown in gate.unknown_states.items()
        if key.reason in reasons and (unknown.is_brief or key.reason not in reading)
    )
