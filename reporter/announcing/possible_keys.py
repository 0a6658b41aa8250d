"""The keys that an Event may be about when admission has removed its labels and annotations."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from reporter.catalogue.entries import Catalogue
from reporter.kube.event_record import StrippedEvent
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey, Subject, qualified_name


class PossibleKeys:
    """
    Finds keys among the *subjects* that exist: an Event of a deleted one need not be continued.
    """

    def __init__(self, catalogue: Catalogue, subjects: Iterable[Subject]) -> None:
        self._catalogue = catalogue
        self._named: defaultdict[tuple[Layer, str], list[Subject]] = defaultdict(list)
        for subject in subjects:
            if not subject.is_unnamed:
                self._named[subject.layer, subject.namespace].append(subject)

    def __call__(self, event: StrippedEvent) -> Iterator[FindingKey]:
        entry = self._catalogue.entries.get(event.reason)
        if entry is None:
            return
        if entry.layer is Layer.CLUSTER:
            yield FindingKey(CLUSTER_SUBJECT, event.reason)
            yield FindingKey(CLUSTER_SUBJECT, event.reason, event.involved_name)
            return
        kind = entry.subject_kind
        whole = Subject(entry.layer, event.involved_name, qualified_name(kind, ""))
        yield FindingKey(whole, event.reason)
        for subject in self._named.get((entry.layer, event.involved_name), ()):
            # The message names the object, and a hash takes longer than a look.
            if subject.kind == kind and subject.object_name in event.message:
                yield FindingKey(subject, event.reason)
