"""The settings of evaluating and announcing, from the flags of a process."""

from collections.abc import Iterable

from reporter.evaluation.clocks import Delays
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.model.enums import Reason
from reporter.settings import Settings


def make_evaluation_settings(
    settings: Settings, unchecked: Iterable[Reason] = (), *, reads_once: bool = False
) -> EvaluationSettings:
    """
    Return the delays, the heartbeat, and the modes of emission and suppression that the flags give.

    *unchecked*: reasons that check nothing with these flags. *reads_once*: the cluster is read once.
    """
    return EvaluationSettings(
        Delays(settings.startup_grace, settings.settle, reads_once=reads_once),
        emission=settings.emission,
        suppression=settings.suppression,
        heartbeat=settings.heartbeat,
        unchecked=frozenset(unchecked),
    )
