"""
Render the JSON Schemas that are published beside the catalogue.

``python -m reporter.catalogue.published_schema`` writes them.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from reporter.catalogue.format import CatalogueFile, OverlayFile, Override, ReasonEntry
from reporter.catalogue.loader import default_folder


DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMAS: Mapping[str, type[msgspec.Struct]] = {
    "schema.json": CatalogueFile[ReasonEntry],
    "overlay.schema.json": OverlayFile[Override, ReasonEntry],
}


def render_schema(type_: type[msgspec.Struct]) -> str:
    """
    Return the text of one schema's file: JSON Schema 2020-12, indented, with a final line break.
    """
    return json.dumps({"$schema": DIALECT, **msgspec.json.schema(type_)}, indent=2) + "\n"


def write_schemas(folder: Path) -> None:
    """Write the schemas of SCHEMAS into *folder*, replacing what is there."""
    for name, type_ in SCHEMAS.items():
        (folder / name).write_text(render_schema(type_), "utf-8")


if __name__ == "__main__":
    write_schemas(default_folder())
