"""
Whether an object is one of those a request is about.
"""

from dataclasses import dataclass

from reporter.embedded.fields import check_field, field_of
from reporter.embedded.kinds import Kind
from reporter.embedded.selectors import FieldTerm, Requirement, parse_fields, parse_labels
from reporter.embedded.storage import Stored


@dataclass(frozen=True, slots=True)
class Selection:
    """
    One namespace or all, and what both selectors leave of it.
    """

    namespace: str = ""
    labels: tuple[Requirement, ...] = ()
    fields: tuple[FieldTerm, ...] = ()

    @property
    def selects(self) -> bool:
        return bool(self.labels or self.fields)

    def matches(self, stored: Stored) -> bool:
        if self.namespace and stored.namespace != self.namespace:
            return False
        if self.labels:
            labels = stored.value["metadata"].get("labels", {})
            if not all(term.met_by(labels) for term in self.labels):
                return False
        return all((field_of(t.field, stored.value) == t.value) is t.wanted for t in self.fields)


def selection(
    kind: Kind, namespace: str, *, name: str, label_selector: str, field_selector: str
) -> Selection:
    """
    The selection of a request; a 400 if a selector cannot be read.
    """

    def check(field: str) -> None:
        check_field(kind, field)

    fields = parse_fields(field_selector, check)
    if name:
        fields = (*fields, FieldTerm("metadata.name", name, wanted=True))
    return Selection(namespace, parse_labels(label_selector), fields)
