"""An evaluation in which every InferenceSet has a finding of its own."""

from reporter.evaluation.clocks import CauseClock, FindingState, TrackedFindings
from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.rank import Ranking
from reporter.model.enums import Layer, Reason, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey, Subject
from reporter.model.verdicts import Cause, InvolvedObject, ObjectRef, Trouble
from reporter.snapshot.subjects import Subjects
from tests.support.builders import LONG_AGO, NOON


REASON = Reason("inferencesetModelPodsNotReady")
SETS_PER_NAMESPACE = 10


def outage(inference_sets: int) -> Evaluation:
    """Return an evaluation in which every InferenceSet has a finding of its own."""
    trouble = Trouble(
        Cause(ObjectRef("pods", "team", "pod"), "Broken"),
        TroubleKind.FAILED,
        object_created_at=LONG_AGO,
        message_fields={},
    )
    involved = InvolvedObject("v1", "Namespace", "team", "uid")
    state = FindingState((CauseClock(trouble, past_hold=True),), involved, NOON)
    keys = [
        FindingKey(
            Subject(Layer.MODELDEPLOYMENT, f"team-{n // SETS_PER_NAMESPACE:04}", f"model-{n:05}"),
            REASON,
        )
        for n in range(inference_sets)
    ]
    return Evaluation(
        TrackedFindings(dict.fromkeys(keys, state), {}),
        rankings={key.subject: Ranking((key,), (key,)) for key in keys},
        known_subjects=Subjects(frozenset({CLUSTER_SUBJECT, *(key.subject for key in keys)})),
        evaluated_at=NOON,
    )
