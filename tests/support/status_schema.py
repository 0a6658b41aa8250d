"""
The published JSON Schema of ``/status/v1``, for every document that a test has.

The schema allows keys that it does not name, as later releases add some. Here it names all.
"""

import json
from typing import Any

from jsonschema import Draft202012Validator

from reporter.sinks.status_v1_schema import SCHEMA_FILE


def _closed(schema: Any) -> Any:
    """
    Return the schema with no other keys allowed than those that it names.
    """
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _closed(each) for key, each in schema.items()}
    return found | ({"additionalProperties": False} if "properties" in schema else {})


PUBLISHED = json.loads(SCHEMA_FILE.read_text("utf-8"))
Draft202012Validator.check_schema(PUBLISHED)
_VALIDATOR = Draft202012Validator(_closed(PUBLISHED))


def schema_errors(document: Any) -> list[str]:
    """
    Return what is wrong with a document of JSON values.
    """
    return [f"{error.json_path}: {error.message}" for error in _VALIDATOR.iter_errors(document)]


def require_schema(document: Any) -> None:
    assert schema_errors(document) == []
