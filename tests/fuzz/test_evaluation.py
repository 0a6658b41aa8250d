"""Any objects that can be decoded can be evaluated, and their messages are safe to publish."""

import json

import msgspec
import pytest
from hypothesis import given, settings

from reporter.kube.event_format import decode_event, encode_event
from reporter.kube.event_record import EventRecord
from tests.fuzz.odd_values import SECRET
from tests.fuzz.stack_replay import StackReplay, stories, strings


pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")


def test_the_stack_is_well_to_begin_with():
    stack = StackReplay().advance(7_200)
    assert [verdict.reason for verdict in stack.evaluation.tracked.finding_states] == []
    assert stack.writes == []


@settings(max_examples=settings.default.max_examples // 4)
@given(stories, stories)
def test_no_object_ends_a_pass(first, story):
    stack = StackReplay(first).run(story)
    assert stack.evaluation.evaluated_at == stack.now
    for record in stack.writes:
        event = json.dumps(encode_event(record, instance="reporter"))
        assert isinstance(decode_event(event.encode()), EventRecord)
        assert len(record.message.encode()) <= 1024
        assert record.message.isprintable()
        assert SECRET not in record.message
    assert all(SECRET not in page for page in stack.pages)
    assert all(text.isprintable() for text in strings(json.loads(stack.pages[0])))
    assert msgspec.json.decode(stack.pages[0])
