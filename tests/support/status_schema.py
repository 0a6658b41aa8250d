"""
The published JSON Schemas of ``/status/v1``, for every document that a test has.

The schemas allow keys that they do not name, as later releases add some. Here they name all.
"""

import json
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import msgspec
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from reporter.model.fleet_status import FLEET_SCOPE, FleetDocument
from reporter.model.json_schema import render_schema
from reporter.model.status_document import StatusDocument


def _closed(schema: Any) -> Any:
    """Return the schema with no other keys allowed than those that it names."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _closed(each) for key, each in schema.items()}
    return found | ({"additionalProperties": False} if "properties" in schema else {})


def _validator_of(published: Any) -> Any:
    """
    Return a validator that checks no part twice: documents of other passes have most parts alike.
    """
    sound: set[tuple[str, bytes]] = set()

    def check_referred(
        validator: Any, reference: str, part: Any, schema: Any
    ) -> Iterator[ValidationError]:
        digest = blake2b(msgspec.json.encode(part), digest_size=16).digest()
        if (reference, digest) in sound:
            return
        check = Draft202012Validator.VALIDATORS["$ref"]
        errors = list(check(validator, reference, part, schema))
        yield from errors
        if not errors:
            sound.add((reference, digest))

    return extend(Draft202012Validator, {"$ref": check_referred})(_closed(published))


PUBLISHED = json.loads(render_schema(StatusDocument))
Draft202012Validator.check_schema(PUBLISHED)
_VALIDATOR = _validator_of(PUBLISHED)
_FLEET_VALIDATOR = _validator_of(json.loads(render_schema(FleetDocument)))


def schema_errors(document: Any) -> list[str]:
    """Return what is wrong with a document of JSON values. That of a hub names its scope."""
    is_of_hub = isinstance(document, dict) and document.get("scope") == FLEET_SCOPE
    validator = _FLEET_VALIDATOR if is_of_hub else _VALIDATOR
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


def require_schema(document: Any) -> None:
    assert schema_errors(document) == []
