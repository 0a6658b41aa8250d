"""
Every document of every case is as the published schema has it.
"""

import pytest

from reporter.stories.replay.orders import ORDERS, reordered
from reporter.stories.replay.story_replay import StoryReplay
from tests.cases.test_cases import STORIES
from tests.support.rollups import status_document, view_of
from tests.support.status_schema import require_schema


class RenderedReplay(StoryReplay):
    """
    A replay that renders the status after each pass that changed it.
    """

    rendered = 0

    def run_pass(self):
        before = self.rollup.revision
        super().run_pass()
        if self.rollup.revision != before:
            require_schema(status_document(view_of(self)))
            self.rendered += 1
        return self


@pytest.mark.parametrize("name", STORIES)
def test_every_document_of_a_case_is_as_published(name):
    replay = RenderedReplay(reordered(STORIES[name], ORDERS[0]))
    replay.run()
    assert replay.rendered
