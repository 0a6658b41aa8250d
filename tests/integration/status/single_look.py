"""An evaluation made of one look at a cluster or a dump."""

from datetime import datetime

from reporter.catalogue.entries import Catalogue
from reporter.evaluation.evaluation import Evaluation
from reporter.settings import Settings
from reporter.snapshot.subjects import ALL_LAYERS
from reporter.status.dump import observe_dump, read_dump
from reporter.status.observations import Observations, make_evaluator


def observe_once(
    path: str, settings: Settings, catalogue: Catalogue, *, now: datetime
) -> Observations:
    """Read a dump as the first and only one."""
    return observe_dump(read_dump(path, now=now), path, settings, catalogue, now=now)


def evaluate_once(
    observations: Observations, settings: Settings, catalogue: Catalogue
) -> Evaluation:
    """
    Evaluate everything as the first pass of a process does: clocks start at the writers' times.
    """
    evaluator = make_evaluator(settings, catalogue)
    return evaluator.evaluate(Evaluation(), observations.snapshot, ALL_LAYERS, now=observations.at)
