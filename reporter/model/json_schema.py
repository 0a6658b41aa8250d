"""Make the JSON Schemas of what the program reads and answers from its structs."""

import json

import msgspec


DIALECT = "https://json-schema.org/draft/2020-12/schema"


def render_schema(type_: type[msgspec.Struct]) -> str:
    """
    Return the text of a schema's file: JSON Schema 2020-12, indented, with a final line break.
    """
    return json.dumps({"$schema": DIALECT, **msgspec.json.schema(type_)}, indent=2) + "\n"
