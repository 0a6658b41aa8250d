"""
Whatever an API server sends, or someone in its place: an answer of ours or a declared error.
"""

from contextlib import suppress

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.kube import access, discovery, event_format, events, leases, statuses
from reporter.kube.arriving import Arriving
from reporter.kube.changes import Bookmark, Drop, Page, Put, Spoilt, read_event, read_page
from reporter.kube.client import Answer
from reporter.kube.errors import KubeError
from reporter.kube.event_format import Foreign, decode_event
from reporter.kube.event_names import event_name
from reporter.kube.leases import LeaseBook, encode_record
from reporter.kube.translation import Asked, failure, watch_failure
from reporter.model.events import EventRecord
from reporter.model.kinds import KINDS
from reporter.model.leases import LeaseRecord
from tests.fuzz.grammar import damaged, encoded, json_of, mutated, odd, of_type


pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

ASKED = Asked("list things", "GET", "/api/v1/things")


def told(read, *about):
    """
    The answer, or the declared error that was raised in its place; nothing else is caught.
    """
    try:
        return read(*about)
    except KubeError as err:
        return err


kinds = st.sampled_from(KINDS)
TYPES = st.sampled_from(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "SYNC"])


@st.composite
def watch_lines(draw, kind) -> bytes:
    event = {"type": draw(TYPES | odd), "object": draw(of_type(kind.type))}
    raw = encoded(event if draw(st.booleans()) else draw(mutated(event)))
    return draw(st.just(raw) | damaged(raw))


@st.composite
def pages(draw, kind) -> bytes:
    items = draw(st.lists(of_type(kind.type), max_size=3) | odd)
    page = {"metadata": {"resourceVersion": "7", "continue": draw(odd)}, "items": items}
    raw = encoded(page if draw(st.booleans()) else draw(mutated(page)))
    return draw(st.just(raw) | damaged(raw))


@given(st.data(), kinds)
def test_a_line_of_a_watch_is_a_change_or_an_error(data, kind):
    line = data.draw(watch_lines(kind))
    change = told(read_event, line, kind, ASKED)
    assert isinstance(change, Put | Drop | Spoilt | Bookmark | KubeError)


@given(st.data(), kinds)
def test_a_page_of_a_list_is_a_page_or_an_error(data, kind):
    body = data.draw(pages(kind))
    assert isinstance(told(read_page, body, kind, ASKED), Page | KubeError)


@given(st.data(), kinds, st.integers(1, 200), st.integers(1, 400))
def test_a_list_in_pieces_is_the_list_that_it_is_as_a_whole(data, kind, size, batch):
    body = data.draw(pages(kind))
    arriving = Arriving(kind, ASKED, batch)
    for begin in range(0, len(body), size):
        arriving.feed(body[begin : begin + size])
    whole = told(read_page, body, kind, ASKED)
    if isinstance(whole, Page):
        assert arriving.end() == whole
    else:
        assert isinstance(told(arriving.end), KubeError)


@given(
    json_of(statuses.Status, names=("Status",)),
    st.sampled_from([0, 400, 403, 404, 409, 410, 429, 500, 503]),
)
def test_any_body_of_a_failure_is_an_error_with_a_line_of_text(body, status):
    for err in (failure(ASKED, status, {}, body), watch_failure(ASKED, body)):
        assert isinstance(err, KubeError)
        assert str(err).isprintable()


headers = st.dictionaries(
    st.sampled_from(["Retry-After", "Content-Type", "Server"]), st.text(max_size=20)
)


@given(headers, st.binary(max_size=60))
def test_any_headers_of_a_failure_are_an_error(sent, body):
    assert isinstance(failure(ASKED, 429, sent, body), KubeError)


@given(json_of(leases._Lease))
def test_a_lease_is_a_record_that_can_be_written_or_an_error(body):
    lease = told(leases._lease, Answer(200, {}, body), "read lease x")
    if isinstance(lease, KubeError):
        return
    assert isinstance(lease.record, LeaseRecord)
    written = encode_record(lease.record)
    assert 1 <= written["leaseDurationSeconds"] < 2**31
    assert abs(written["leaseTransitions"]) < 2**31


class Taking:
    """
    An API that takes everything.
    """

    async def call(self, *_, body: bytes, **__) -> Answer:
        msgspec.json.decode(body)
        return Answer(200, {}, b"{}")


@given(json_of(leases._Lease))
async def test_a_lease_that_was_read_can_be_written_again(body):
    lease = told(leases._lease, Answer(200, {}, body), "read lease x")
    if isinstance(lease, leases.Lease):
        book = LeaseBook(Taking(), "here", "it")
        with suppress(KubeError):
            assert await book.update(lease, lease.record)


OURS = {
    "metadata": {
        "name": "x",
        "labels": {event_format.EPISODE: "1777636800"},
        "annotations": {
            event_format.TOLD: "abc",
            event_format.SUBJECT: (
                '{"layer": "cluster", "namespace": "", "name": "", "reason": "r", "item": ""}'
            ),
        },
    },
    "involvedObject": {"apiVersion": "v1", "kind": "Namespace", "name": "x", "uid": "1"},
    "source": {"component": event_format.COMPONENT},
    "eventTime": "2026-05-01T12:00:00.000000Z",
    "lastTimestamp": "2026-05-01T12:00:00Z",
    "type": "Warning",
    "message": "m",
    "count": 3,
}


def named_rightly(event):
    """
    With the name that we would give it, so that it is not refused for that alone.
    """
    found = decode_event(encoded(event))
    if isinstance(found, Foreign) and "name" in found.why:
        record = event_format._record(event_format._EVENTS.decode(encoded(event)))
        event["metadata"]["name"] = event_name(record)
    return event


event_bodies = mutated(named_rightly(OURS)).map(encoded) | json_of(event_format._Event)


@given(event_bodies.flatmap(lambda raw: st.just(raw) | damaged(raw)))
def test_an_event_is_a_record_or_foreign(body):
    found = decode_event(body)
    assert isinstance(found, EventRecord | Foreign)
    if isinstance(found, EventRecord):
        again = event_format.encode_event(found.again("m", "t", now=found.last), instance="x")
        assert encoded(again)


@given(json_of(events._Page))
def test_a_page_of_events_is_one_or_an_error(body):
    assert isinstance(told(events._page, body), events._Page | KubeError)


@given(st.sampled_from([discovery._Groups, discovery._Resources]).flatmap(lambda t: st.tuples(
    st.just(t), json_of(t, names=("kaito.sh", "v1", "APIGroupDiscoveryList"))
)))  # fmt: skip
def test_discovery_is_an_answer_or_an_error(case):
    shape, body = case
    found = told(discovery._decode, Answer(200, {}, body), shape, "discover")
    assert isinstance(found, shape | KubeError)
    if isinstance(found, discovery._Groups):
        assert discovery.of_groups(found.items or (), frozenset({"kaito.sh"})) is not None


class Saying:
    """
    An API that always says the same.
    """

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def call(self, *_, **__) -> Answer:
        return Answer(200, {}, self._body)


@given(json_of(access._Review))
async def test_a_review_is_a_grant(body):
    right = access.Right("get", "", "pods")
    assert await access._ask(Saying(body), right) in access.Grant


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.resource)
def test_the_grammar_makes_objects_that_can_be_decoded(kind):
    """
    Otherwise nothing above would say anything.
    """
    seen = []

    @given(of_type(kind.type))
    def draw(value):
        line = encoded({"type": "ADDED", "object": value})
        seen.append(type(told(read_event, line, kind, ASKED)))

    draw()
    assert seen.count(Put) >= 10
