"""
A replay of many InferenceSets of several namespaces that fail and recover at times of their own.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import timedelta

from reporter.model.enums import Layer, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey, Subject
from tests.support.builders import a_catalogue, a_key, a_trouble, an_active_verdict, an_entry
from tests.support.replay import Replay


MODELS = {"layer": Layer.MODELDEPLOYMENT}
INFRA, PODS, ROUTE, PRESSURE, READY = (
    "inferencesetInfra",
    "inferencesetPods",
    "inferencesetRoute",
    "inferencesetPressure",
    "inferencesetReady",
)
CATALOGUE = a_catalogue(
    an_entry(INFRA, 10, **MODELS),
    an_entry(PODS, 20, **MODELS),
    an_entry(ROUTE, 30, **MODELS),
    an_entry(PRESSURE, None, orthogonal=True, **MODELS),
)
KINDS = {
    INFRA: TroubleKind.FAILED,
    PODS: TroubleKind.LOST,
    ROUTE: TroubleKind.DECLARED,
    PRESSURE: TroubleKind.LOST,
}
NAMESPACES = ("team-a", "team-b", "team-c")

Change = tuple[float, bool, FindingKey]
"""The second of a change, whether trouble begins or ends, and its key."""


def inference_sets(number: int, namespaces: Iterable[str] = NAMESPACES) -> list[Subject]:
    return [
        Subject(Layer.MODELDEPLOYMENT, namespace, f"model-{i:03}")
        for namespace in namespaces
        for i in range(number)
    ]


class StormReplay(Replay):
    """A replay of a list of changes."""

    def __init__(self, subjects: Iterable[Subject]) -> None:
        super().__init__(CATALOGUE, subjects=frozenset({CLUSTER_SUBJECT, *subjects}))
        self._began_at = self.now

    def play(self, changes: Iterable[Change], *, rest: float) -> "StormReplay":
        """Make the changes in the order of their times, then let *rest* seconds pass."""
        by_second = defaultdict(list)
        for second, begins, key in changes:
            by_second[second].append((begins, key))
        for second in sorted(by_second):
            self._advance_to(second)
            for begins, key in by_second[second]:
                if begins:
                    trouble = a_trouble(kind=KINDS[key.reason])
                    self.verdicts[key] = an_active_verdict(key, trouble)
                else:
                    self.verdicts.pop(key, None)
            self.run_pass()
        self.advance(rest)
        return self

    def _advance_to(self, second: float) -> None:
        self.advance(max(self._began_at + timedelta(seconds=second) - self.now, timedelta(0)))

    @property
    def new_events(self) -> Counter:
        """Count the Events, each with all of its writes as one, by namespace and reason."""
        return Counter((r.key.subject.namespace, r.key.reason) for r in self.first_writes)

    @property
    def first_writes(self) -> list:
        return [record for record in self.writes if record.count == 1]


def keys_of(subjects: Iterable[Subject], reason: str) -> list[FindingKey]:
    return [a_key(reason, subject) for subject in subjects]
