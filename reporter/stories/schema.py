"""Render the JSON Schema of a story's file, which ``test --schema`` prints."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from reporter.model.json_schema import DIALECT
from reporter.stories import format as stories_format


NOTATIONS: Mapping[str, type[msgspec.Struct]] = {
    "Deployment": stories_format.DeploymentNotation,
    "Pod": stories_format.PodNotation,
    "Workspace": stories_format.WorkspaceNotation,
}
"""The words of each kind that has some. Others are described by the fields of the API."""


def render_story_schema() -> str:
    """Return the text of the JSON Schema of stories, rendered from the types that read them."""
    types = (stories_format.Story, *NOTATIONS.values())
    (story, *kinds), definitions = msgspec.json.schema_components(
        types, ref_template="#/$defs/{name}"
    )
    by_kind = dict(zip(NOTATIONS, kinds, strict=True))
    for name in ("Given", "Step"):
        definitions[name]["properties"]["change"] |= _changes_schema(by_kind)
    return json.dumps({"$schema": DIALECT, **story, "$defs": definitions}, indent=2) + "\n"


def _changes_schema(by_kind: dict[str, Any]) -> dict[str, Any]:
    """
    Return the schema of changes: words of a kind that has some, or parts of the API's object.
    """
    api = {"anyOf": [{"required": [key]} for key in ("metadata", "spec", "status")]}
    return {
        "patternProperties": {
            f"^{kind} ": {"anyOf": [{"type": "null"}, words, {"type": "object", **api}]}
            for kind, words in by_kind.items()
        }
    }
