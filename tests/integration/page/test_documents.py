"""
What the page is shown in these tests is what a reporter may answer.
"""

import msgspec
import pytest

from tests.integration.page.documents import every_state, healthy, many
from tests.support.status_schema import require_schema


@pytest.mark.parametrize(
    "document", [healthy(), every_state(), many(2, 3)], ids=["healthy", "every state", "many"]
)
def test_the_documents_of_the_page_are_as_published(document):
    require_schema(msgspec.json.decode(msgspec.json.encode(document)))
