"""
The published JSON Schemas of ``/status/v1``, for every document that a test has.

The schemas allow keys that they do not name, as later releases add some. Here they name all.
"""

import json
from typing import Any

from jsonschema import Draft202012Validator

from reporter.model.fleet_status import FLEET_SCOPE
from reporter.server.status_v1_schema import FLEET_SCHEMA_FILE, SCHEMA_FILE


def _closed(schema: Any) -> Any:
    """Return the schema with no other keys allowed than those that it names."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _closed(each) for key, each in schema.items()}
    return found | ({"additionalProperties": False} if "properties" in schema else {})


PUBLISHED = json.loads(SCHEMA_FILE.read_text("utf-8"))
Draft202012Validator.check_schema(PUBLISHED)
_VALIDATOR = Draft202012Validator(_closed(PUBLISHED))
_FLEET_VALIDATOR = Draft202012Validator(_closed(json.loads(FLEET_SCHEMA_FILE.read_text("utf-8"))))


def schema_errors(document: Any) -> list[str]:
    """Return what is wrong with a document of JSON values. That of a hub names its scope."""
    is_of_hub = isinstance(document, dict) and document.get("scope") == FLEET_SCOPE
    validator = _FLEET_VALIDATOR if is_of_hub else _VALIDATOR
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


def require_schema(document: Any) -> None:
    assert schema_errors(document) == []
