"""The pointers of the status, compared with what Events suppress."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reporter.model.enums import Layer
from reporter.model.status_document import Blocking, StatusDocument


HISTORY_CODES = frozenset({"NotFound", "Misnamed"})
"""
Codes of a component that was never seen, which suppresses nothing. A component that was deleted looks
the same to one reading.
"""

_SUFFIX = re.compile(r"\(suppressing downstream reasons: (?P<reasons>.+) in \d+ namespace\(s\)\)$")


@dataclass(frozen=True, slots=True)
class AnnouncedRoot:
    """
    A cause that was announced, with the reasons that it suppresses. *namespace*: empty of the cluster.
    """

    layer: Layer
    namespace: str
    reason: str
    suppressed: frozenset[str]

    def differences(self, documents: Sequence[StatusDocument]) -> Iterator[str]:
        """
        Yield what the status has as a cause although it only follows, and a pointer that is missing.
        """
        known = [each for each in documents if self._is_named(each)]
        blocked = [each for document in known for each in self._blocked(document)]
        for each in blocked:
            if each.reason in self.suppressed and not each.pointer:
                yield f"{each.reason} follows from {self.reason}, the status has it as a cause"
        if known and not any(each.pointer and each.reason == self.reason for each in blocked):
            yield f"{self.reason} suppresses {sorted(self.suppressed)}, and nothing points at it"

    def _is_named(self, document: StatusDocument) -> bool:
        found = self._of_root(document)
        if found is None or found.reason != self.reason:
            return False
        return self.layer is not Layer.CLUSTER or found.code not in HISTORY_CODES

    def _of_root(self, document: StatusDocument) -> Blocking | None:
        if self.layer is Layer.CLUSTER:
            return document.cluster.blocking if document.cluster is not None else None
        harnesses = (each.harness for each in document.namespaces if each.name == self.namespace)
        return next((each.blocking for each in harnesses if each is not None), None)

    def _blocked(self, document: StatusDocument) -> Iterator[Blocking]:
        for namespace in document.namespaces:
            if self.namespace in {"", namespace.name}:
                for each in (namespace.harness, *namespace.inference_sets):
                    if each is not None and each.blocking is not None:
                        yield each.blocking


def suppressed_in(line: str) -> frozenset[str]:
    """Return the reasons that an announcement names as suppressed."""
    found = _SUFFIX.search(line)
    return frozenset(re.split(r", | and ", found["reasons"])) if found is not None else frozenset()
