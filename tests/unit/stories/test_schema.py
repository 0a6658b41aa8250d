"""The published schema of stories, and what it accepts."""

import json

import pytest
from jsonschema import Draft202012Validator

from reporter.stories.schema import render_story_schema
from tests.support.cases import case_files, read_yaml
from tests.support.written_stories import STORY


SCHEMA = json.loads(render_story_schema())
VALIDATOR = Draft202012Validator(SCHEMA)


@pytest.mark.parametrize("name", case_files())
def test_every_case_is_valid(name: str):
    errors = VALIDATOR.iter_errors(read_yaml(case_files()[name].path))
    assert [error.message for error in errors] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("replicas: 0", "replica: 0"),
        ("at: 1m", "at: soon"),
        ("  1m:", "  later:"),
        ("of: [clusterBBRNotReady]", "of: []"),
        ("why: A human's word needs no hold.\n", ""),
    ],
)
def test_a_wrong_story_is_invalid(old: str, new: str, tmp_path):
    file = tmp_path / "story.yaml"
    file.write_text(STORY)
    assert VALIDATOR.is_valid(read_yaml(file))
    file.write_text(STORY.replace(old, new, 1))
    assert not VALIDATOR.is_valid(read_yaml(file))
