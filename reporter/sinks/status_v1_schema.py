"""
Publish the JSON Schema of ``/status/v1``, made from its structs.

``python -m reporter.sinks.status_v1_schema`` writes it.
"""

import json
from pathlib import Path

import msgspec

from reporter.model.rollup.status import StatusDocument


DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_FILE = Path(__file__).with_name("status_v1.schema.json")


def render_schema() -> str:
    """
    Return the schema as text.
    """
    return json.dumps({"$schema": DIALECT, **msgspec.json.schema(StatusDocument)}, indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(render_schema(), "utf-8")
