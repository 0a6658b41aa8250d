"""The settings of evaluating and announcing, from the flags of a process."""

from collections.abc import Iterable

from reporter.model.enums import Reason
from reporter.settings import Settings
from reporter.stages.evaluation.clocks import Delays
from reporter.stages.evaluation.evaluation import EvaluationSettings


def make_evaluation_settings(
    settings: Settings, unchecked: Iterable[Reason] = ()
) -> EvaluationSettings:
    """*unchecked*: reasons that check nothing with these flags."""
    return EvaluationSettings(
        Delays(grace=settings.startup_grace, settle=settings.settle),
        emission=settings.emission,
        suppression=settings.suppression,
        heartbeat=settings.heartbeat,
        unchecked=frozenset(unchecked),
    )
