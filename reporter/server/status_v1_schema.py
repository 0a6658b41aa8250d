"""
Publish the JSON Schemas of ``/status/v1`` of reporters and hubs, made from their structs.

``python -m reporter.server.status_v1_schema`` writes them.
"""

import json
from pathlib import Path

import msgspec

from reporter.model.fleet_status import FleetDocument
from reporter.model.status_document import StatusDocument
from reporter.model.status_struct import StatusStruct


DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_FILE = Path(__file__).with_name("status_v1.schema.json")
FLEET_SCHEMA_FILE = Path(__file__).with_name("fleet_v1.schema.json")


def render_schema(document: type[StatusStruct] = StatusDocument) -> str:
    """
    Return the JSON Schema of a document, indented, as it is kept beside this module.

    ``status --schema`` prints it.
    """
    return json.dumps({"$schema": DIALECT, **msgspec.json.schema(document)}, indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(render_schema(), "utf-8")
    FLEET_SCHEMA_FILE.write_text(render_schema(FleetDocument), "utf-8")
