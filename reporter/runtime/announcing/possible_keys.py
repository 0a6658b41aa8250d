"""
The keys that an Event may be about when admission has removed its labels and annotations.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from reporter.model.entries import Catalogue
from reporter.model.enums import Layer
from reporter.model.event_record import StrippedEvent
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey, Subject


class PossibleKeys:
    """
    Finds keys among the *subjects* that exist: an Event of a deleted one need not be continued.
    """

    def __init__(self, catalogue: Catalogue, subjects: Iterable[Subject]) -> None:
        self._catalogue = catalogue
        self._sets: defaultdict[str, list[Subject]] = defaultdict(list)
        for subject in subjects:
            if subject.layer is Layer.MODELDEPLOYMENT and subject.name:
                self._sets[subject.namespace].append(subject)

    def __call__(self, event: StrippedEvent) -> Iterator[FindingKey]:
        entry = self._catalogue.entries.get(event.reason)
        if entry is None:
            return
        if entry.layer is Layer.CLUSTER:
            yield FindingKey(CLUSTER_SUBJECT, event.reason)
            yield FindingKey(CLUSTER_SUBJECT, event.reason, event.involved_name)
            return
        yield FindingKey(Subject(entry.layer, event.involved_name), event.reason)
        if entry.layer is Layer.MODELDEPLOYMENT:
            for subject in self._sets.get(event.involved_name, ()):
                # The message names the InferenceSet, and a hash takes longer than a look.
                if subject.name in event.message:
                    yield FindingKey(subject, event.reason)
