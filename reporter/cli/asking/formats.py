"""The formats of ``--output``, and the two for programs."""

import json
from enum import StrEnum, unique
from typing import Any

import yaml


@unique
class Format(StrEnum):
    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


def to_json(raw: Any) -> str:
    """Return indented JSON. What a terminal would interpret is escaped, as JSON allows."""
    text = json.dumps(raw, indent=2, ensure_ascii=False)
    return "".join(
        each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text
    )


def to_yaml(raw: Any) -> str:
    text: str = yaml.safe_dump(raw, sort_keys=False, allow_unicode=False, width=10_000)
    return text.rstrip("\n")
