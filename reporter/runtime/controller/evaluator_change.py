"""A change of the evaluator between two passes."""

from asyncio import Future
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from reporter.stages.evaluation.evaluation import Evaluation
from reporter.stages.pipeline import Evaluator


class AdaptedEvaluation(NamedTuple):
    """
    An Evaluation that fits another evaluator. *commit*: changes the other parts to the catalogue of it.
    """

    evaluation: Evaluation
    commit: Callable[[], None]


AdaptFunc: TypeAlias = Callable[[Evaluation], AdaptedEvaluation]
"""
Makes an Evaluation of the old evaluator fit the new one. It changes nothing else, so it may raise.
"""


class EvaluatorChange(NamedTuple):
    """
    Another evaluator. *done*: gets no result before the change is made, or the exception of *adapt*.
    """

    evaluator: Evaluator
    adapt: AdaptFunc
    done: "Future[None]"
