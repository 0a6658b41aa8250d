"""
Parsing of label and field selectors, and matching of labels.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from reporter.embedded.schema.api_errors import bad_request


_LABEL_TERM = re.compile(
    r"\s*(?:(?P<absent>!)\s*(?P<no>[\w./-]+)"
    r"|(?P<key>[\w./-]+)(?:\s*(?P<set>\bin\b|\bnotin\b)\s*\((?P<values>[^()]*)\)"
    r"|\s*(?P<sign>==|=|!=)\s*(?P<value>[\w.-]*)"
    r"|\s+(?P<stray>[^\s,]+))?)\s*(?:,|$)"
)


@dataclass(frozen=True, slots=True)
class LabelRequirement:
    """
    A requirement of a label selector: the value of *key* is in *values*, or not in it.

    Without values: the key exists, or does not exist.
    """

    key: str
    values: frozenset[str] | None
    wanted: bool = True

    def matches(self, labels: Mapping[str, str]) -> bool:
        if self.values is None:
            return (self.key in labels) is self.wanted
        if self.key not in labels:
            return not self.wanted
        return (labels[self.key] in self.values) is self.wanted


def parse_labels(text: str) -> tuple[LabelRequirement, ...]:
    """
    Parse a label selector. Raise a 400 if it is invalid.
    """
    if not text.strip():
        return ()
    requirements: list[LabelRequirement] = []
    position = 0
    while position < len(text):
        term = _LABEL_TERM.match(text, position)
        if term is None:
            raise bad_request(
                f"unable to parse requirement: found '{text[position:]}', expected: identifier"
            )
        requirements.append(_label_requirement(term))
        position = term.end()
    if text.rstrip().endswith(","):
        raise bad_request("found '', expected: identifier after ','")
    return tuple(requirements)


def _label_requirement(term: re.Match[str]) -> LabelRequirement:
    if term["stray"]:
        expected = "expected: in, notin, =, ==, !=, gt, lt"
        raise bad_request(f"unable to parse requirement: found '{term['stray']}', {expected}")
    if term["absent"]:
        return LabelRequirement(term["no"], None, wanted=False)
    if term["set"]:
        values = frozenset(value.strip() for value in term["values"].split(","))
        return LabelRequirement(term["key"], values, wanted=term["set"] == "in")
    if term["sign"]:
        return LabelRequirement(
            term["key"], frozenset({term["value"]}), wanted=term["sign"] != "!="
        )
    return LabelRequirement(term["key"], None)


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    field: str
    value: str
    wanted: bool


def parse_fields(text: str, check: Callable[[str], None]) -> tuple[FieldRequirement, ...]:
    """
    Parse a field selector; *check* raises for fields that the kind does not support.
    """
    requirements = []
    for part in re.split(r"(?<!\\),", text):
        if not part:
            continue
        term = re.fullmatch(r"([^=!]+)(==|=|!=)(.*)", part, re.DOTALL)
        if term is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        check(term[1])
        value = re.sub(r"\\([\\,=])", r"\1", term[3])
        requirements.append(FieldRequirement(term[1], value, term[2] != "!="))
    return tuple(requirements)
