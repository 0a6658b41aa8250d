"""An evaluation made of one look at a cluster or a dump."""

from reporter.model.catalogue.entries import Catalogue
from reporter.runtime.oneshot.source import Observations, make_evaluator
from reporter.settings import Settings
from reporter.stages.evaluation.evaluation import Evaluation
from reporter.stages.snapshot.subjects import ALL_LAYERS


def evaluate_once(
    observations: Observations, settings: Settings, catalogue: Catalogue
) -> Evaluation:
    """
    Evaluate everything as the first pass of a process does: clocks start at the writers' times.
    """
    evaluator = make_evaluator(settings, catalogue)
    return evaluator.evaluate(Evaluation(), observations.snapshot, ALL_LAYERS, now=observations.at)
