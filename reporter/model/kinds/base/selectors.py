"""
Label and field selectors, as the API server understands them.

See "Labels and Selectors" and "Field Selectors" in the documentation of Kubernetes.
"""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct


_LABEL_TERM = re.compile(
    r"\s*(?:(?P<absent>!)\s*(?P<no>[\w./-]+)"
    r"|(?P<key>[\w./-]+)(?:\s*(?P<set>\bin\b|\bnotin\b)\s*\((?P<values>[^()]*)\)"
    r"|\s*(?P<order>[<>])\s*(?P<bound>-?\d+)"
    r"|\s*(?P<sign>==|=|!=)\s*(?P<value>[\w.-]*)"
    r"|\s+(?P<stray>[^\s,]+))?)\s*(?:,|$)"
)


class SelectorError(ValueError):
    """Raised for a selector that cannot be parsed, with why."""


class LabelRequirement(Struct, frozen=True):
    """
    A requirement of a label selector: the value of *key* is in *values*, or not in it.

    Without values: the key exists, or does not exist; with a *bound* it is a number above it, or below
    if the bound is not *wanted*.
    """

    key: str
    values: frozenset[str] | None
    wanted: bool = True
    bound: int | None = None

    def matches(self, labels: Mapping[str, Any]) -> bool:
        if self.bound is not None:
            return self._is_beyond(labels.get(self.key))
        if self.values is None:
            return (self.key in labels) is self.wanted
        if self.key not in labels:
            return not self.wanted
        return (labels[self.key] in self.values) is self.wanted

    def _is_beyond(self, value: object) -> bool:
        if self.bound is None or not isinstance(value, str) or not value.isdecimal():
            return False
        return int(value) > self.bound if self.wanted else int(value) < self.bound


class FieldRequirement(Struct, frozen=True):
    """A requirement of a field selector: the value at a path is this text, or is not."""

    field: str
    value: str
    wanted: bool

    def matches(self, content: Mapping[str, Any]) -> bool:
        return (self.value in _texts_at(self.field, content)) is self.wanted


def parse_labels(text: str) -> tuple[LabelRequirement, ...]:
    """Parse a label selector. Raises SelectorError."""
    if not text.strip():
        return ()
    requirements: list[LabelRequirement] = []
    position = 0
    while position < len(text):
        term = _LABEL_TERM.match(text, position)
        if term is None:
            found = f"found '{text[position:]}', expected: identifier"
            raise SelectorError(f"unable to parse requirement: {found}")
        requirements.append(_label_requirement(term))
        position = term.end()
    if text.rstrip().endswith(","):
        raise SelectorError("found '', expected: identifier after ','")
    return tuple(requirements)


def _label_requirement(term: re.Match[str]) -> LabelRequirement:
    if term["stray"]:
        expected = "expected: in, notin, =, ==, !=, gt, lt"
        raise SelectorError(f"unable to parse requirement: found '{term['stray']}', {expected}")
    if term["absent"]:
        return LabelRequirement(term["no"], None, wanted=False)
    if term["set"]:
        values = frozenset(value.strip() for value in term["values"].split(","))
        return LabelRequirement(term["key"], values, wanted=term["set"] == "in")
    if term["order"]:
        wanted, bound = term["order"] == ">", int(term["bound"])
        return LabelRequirement(term["key"], None, wanted=wanted, bound=bound)
    if term["sign"]:
        return LabelRequirement(
            term["key"], frozenset({term["value"]}), wanted=term["sign"] != "!="
        )
    return LabelRequirement(term["key"], None)


def parse_fields(text: str) -> tuple[FieldRequirement, ...]:
    """Parse a field selector. Raises SelectorError."""
    requirements = []
    for part in re.split(r"(?<!\\),", text):
        if not part:
            continue
        term = re.fullmatch(r"([^=!]+)(==|=|!=)(.*)", part, re.DOTALL)
        if term is None:
            raise SelectorError(f"invalid selector: '{text}'; can't understand '{part}'")
        value = re.sub(r"\\([\\,=])", r"\1", term[3])
        requirements.append(FieldRequirement(term[1], value, term[2] != "!="))
    return tuple(requirements)


def _texts_at(field: str, content: Mapping[str, Any]) -> frozenset[str]:
    """Return the text that the API server compares; for an absent value that of each empty one."""
    found: object = content
    for part in field.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    if found is None:
        return frozenset({"", "0", "false"})
    return frozenset({str(found).lower() if isinstance(found, bool) else str(found)})


class ObjectSelector(Struct, frozen=True):
    """
    The selection of a watch, for objects that come from elsewhere. *namespace*: empty for all.
    """

    namespace: str = ""
    labels: tuple[LabelRequirement, ...] = ()
    fields: tuple[FieldRequirement, ...] = ()

    @classmethod
    def parse(cls, namespace: str, labels: str, fields: str) -> "ObjectSelector":
        """Raises SelectorError."""
        return cls(namespace, parse_labels(labels), parse_fields(fields))

    def matches(self, content: Mapping[str, Any]) -> bool:
        """Return whether an object is selected. *content*: as its JSON has it."""
        metadata = content.get("metadata")
        meta = metadata if isinstance(metadata, Mapping) else {}
        if self.namespace and meta.get("namespace") != self.namespace:
            return False
        given = meta.get("labels")
        pairs = given.items() if isinstance(given, Mapping) else ()
        labels = {name: value for name, value in pairs if isinstance(value, str)}
        return all(each.matches(labels) for each in self.labels) and all(
            each.matches(content) for each in self.fields
        )
