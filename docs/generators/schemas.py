"""
The JSON Schemas that are published beside what they describe.

``python -m docs.generators.schemas`` writes them; a test compares the files with the program.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from reporter.catalogue.format import CatalogueFile, OverlayFile, Override, ReasonEntry
from reporter.model.fleet_status import FleetDocument
from reporter.model.json_schema import render_schema
from reporter.model.status_document import StatusDocument
from reporter.stories.schema import render_story_schema


COMMAND = "python -m docs.generators.schemas"
ROOT = Path(__file__).parents[2]

SCHEMAS: Mapping[str, Callable[[], str]] = {
    "catalogue/schema.json": partial(render_schema, CatalogueFile[ReasonEntry]),
    "catalogue/overlay.schema.json": partial(render_schema, OverlayFile[Override, ReasonEntry]),
    "catalogue/story.schema.json": render_story_schema,
    "reporter/server/status_v1.schema.json": partial(render_schema, StatusDocument),
    "reporter/server/fleet_v1.schema.json": partial(render_schema, FleetDocument),
}
"""Text of each file."""


if __name__ == "__main__":
    for name, render in SCHEMAS.items():
        (ROOT / name).write_text(render(), "utf-8")
