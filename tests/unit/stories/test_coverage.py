"""Reasons and codes without a story."""

from pathlib import Path

from reporter.stories.catalogues import SHIPPED
from reporter.stories.runner import StoryResult, find_coverage
from tests.support.written_stories import run


def test_what_no_story_announces_is_named(tmp_path: Path):
    result = run(tmp_path)
    assert isinstance(result, StoryResult)
    coverage = find_coverage([result], SHIPPED.plain)
    assert coverage.total == len(coverage.reasons) + 1
    assert "clusterBBRNotReady" not in coverage.reasons
    assert "clusterKedaNotReady" in coverage.reasons
    (codes,) = coverage.codes.values()
    assert "ScaledToZero" not in codes
    assert "Unavailable" in codes
