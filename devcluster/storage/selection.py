"""The objects that a request selects: by namespace, labels and fields."""

from dataclasses import dataclass

from devcluster.schema.api_errors import bad_request
from devcluster.schema.field_labels import check_field_label, field_value
from devcluster.schema.kinds import ServedKind
from devcluster.storage.storage import StoredObject
from reporter.kinds.resource_kind import (
    FieldRequirement,
    LabelRequirement,
    SelectorError,
    parse_fields,
    parse_labels,
)


@dataclass(frozen=True, slots=True)
class Selection:
    """A namespace or all (empty), with the requirements of both selectors."""

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
    """Parse the selection of a request. Raise a 400 if a selector is invalid."""
    try:
        labels, fields = parse_labels(label_selector), parse_fields(field_selector)
    except SelectorError as err:
        raise bad_request(str(err)) from err
    for each in fields:
        check_field_label(kind, each.field)
    if name:
        fields = (*fields, FieldRequirement("metadata.name", name, wanted=True))
    return Selection(namespace, labels, fields)
