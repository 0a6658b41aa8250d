"""
The objects that a request selects: by namespace, labels and fields.
"""

from dataclasses import dataclass

from reporter.embedded.schema.field_labels import check_field_label, field_value
from reporter.embedded.schema.kinds import ServedKind
from reporter.embedded.storage.selectors import (
    FieldRequirement,
    LabelRequirement,
    parse_fields,
    parse_labels,
)
from reporter.embedded.storage.storage import StoredObject


@dataclass(frozen=True, slots=True)
class Selection:
    """
    A namespace or all (empty), with the requirements of both selectors.
    """

    namespace: str = ""
    labels: tuple[LabelRequirement, ...] = ()
    fields: tuple[FieldRequirement, ...] = ()

    @property
    def has_selectors(self) -> bool:
        return bool(self.labels or self.fields)

    def matches(self, stored: StoredObject) -> bool:
        if self.namespace and stored.namespace != self.namespace:
            return False
        if self.labels:
            labels = stored.value["metadata"].get("labels", {})
            if not all(term.matches(labels) for term in self.labels):
                return False
        return all(
            (field_value(t.field, stored.value) == t.value) is t.wanted for t in self.fields
        )


def parse_selection(
    kind: ServedKind, namespace: str, *, name: str, label_selector: str, field_selector: str
) -> Selection:
    """
    Parse the selection of a request. Raise a 400 if a selector is invalid.
    """

    def check(field: str) -> None:
        check_field_label(kind, field)

    fields = parse_fields(field_selector, check)
    if name:
        fields = (*fields, FieldRequirement("metadata.name", name, wanted=True))
    return Selection(namespace, parse_labels(label_selector), fields)
