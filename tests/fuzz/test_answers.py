"""
Any bytes from an API server, or from another program in its place, give an answer or a declared
error.
"""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter import PROGRAM_NAME
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kube import (
    access_review,
    api_status,
    discovery,
    event_format,
    leases,
    lister,
)
from reporter.kube import event_format as event_decoding
from reporter.kube import event_format as event_names
from reporter.kube.client import ApiResponse
from reporter.kube.decoding import Json, decode_response
from reporter.kube.error_mapping import RequestInfo, response_error, watch_event_error
from reporter.kube.errors import KubeError
from reporter.kube.event_format import ForeignEvent, decode_event
from reporter.kube.event_record import EventRecord
from reporter.kube.lease_rules import LeaseRecord
from reporter.kube.leases import LeaseLock, encode_lease_record
from reporter.kube.lister import ListStreamDecoder
from reporter.kube.watch_events import (
    Bookmark,
    Delete,
    ListPage,
    UndecodableObject,
    Upsert,
    decode_list_page,
    decode_watch_event,
)
from tests.fuzz.json_strategies import corrupted, json_of, mutated, of_type
from tests.fuzz.odd_values import encoded, odd_values


pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

ASKED = RequestInfo("list things", "GET", "/api/v1/things")


def result_or_error(read, *about):
    """Return the answer or the declared error; nothing else is caught."""
    try:
        return read(*about)
    except KubeError as err:
        return err


kinds = st.sampled_from(DEFAULT_KINDS)
TYPES = st.sampled_from(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "SYNC"])


@st.composite
def watch_lines(draw, kind) -> bytes:
    event = {"type": draw(TYPES | odd_values), "object": draw(of_type(kind.type))}
    raw = encoded(event if draw(st.booleans()) else draw(mutated(event)))
    return draw(st.just(raw) | corrupted(raw))


@st.composite
def pages(draw, kind) -> bytes:
    items = draw(st.lists(of_type(kind.type), max_size=3) | odd_values)
    page = {"metadata": {"resourceVersion": "7", "continue": draw(odd_values)}, "items": items}
    raw = encoded(page if draw(st.booleans()) else draw(mutated(page)))
    return draw(st.just(raw) | corrupted(raw))


@given(st.data(), kinds)
def test_a_line_of_a_watch_is_a_change_or_an_error(data, kind):
    line = data.draw(watch_lines(kind))
    change = result_or_error(decode_watch_event, line, kind, ASKED)
    assert isinstance(change, Upsert | Delete | UndecodableObject | Bookmark | KubeError)


@given(st.data(), kinds)
def test_a_page_of_a_list_is_a_page_or_an_error(data, kind):
    body = data.draw(pages(kind))
    assert isinstance(result_or_error(decode_list_page, body, kind, ASKED), ListPage | KubeError)


@given(st.data(), kinds, st.integers(1, 200), st.integers(1, 400))
def test_a_list_in_pieces_is_the_list_that_it_is_as_a_whole(data, kind, size, batch):
    body = data.draw(pages(kind))
    arriving = ListStreamDecoder(kind, ASKED, batch)
    for begin in range(0, len(body), size):
        arriving.feed(body[begin : begin + size])
    whole = result_or_error(decode_list_page, body, kind, ASKED)
    if isinstance(whole, ListPage):
        assert arriving.finish() == whole
    else:
        assert isinstance(result_or_error(arriving.finish), KubeError)


@given(
    json_of(api_status.Status, names=("Status",)),
    st.sampled_from([0, 400, 403, 404, 409, 410, 429, 500, 503]),
)
def test_any_body_of_a_failure_is_an_error_with_a_line_of_text(body, status):
    for err in (response_error(ASKED, status, {}, body), watch_event_error(ASKED, body)):
        assert isinstance(err, KubeError)
        assert str(err).isprintable()


headers = st.dictionaries(
    st.sampled_from(["Retry-After", "Content-Type", "Server"]), st.text(max_size=20)
)


@given(headers, st.binary(max_size=60))
def test_any_headers_of_a_failure_are_an_error(sent, body):
    assert isinstance(response_error(ASKED, 429, sent, body), KubeError)


@given(json_of(leases._RawLease))
def test_a_lease_is_a_record_that_can_be_written_or_an_error(body):
    lease = result_or_error(leases.decode_lease, ApiResponse(200, {}, body), "read lease x")
    if isinstance(lease, KubeError):
        return
    assert isinstance(lease.record, LeaseRecord)
    written = encode_lease_record(lease.record)
    assert 1 <= written["leaseDurationSeconds"] < 2**31
    assert abs(written["leaseTransitions"]) < 2**31


class AcceptingApi:
    """An API that accepts every request."""

    async def call(self, *_, body: Json, **__) -> ApiResponse:
        json.dumps(body, allow_nan=False)
        return ApiResponse(200, {}, b"{}")


@given(json_of(leases._RawLease))
async def test_a_lease_that_was_read_can_be_written_again(body):
    lease = result_or_error(leases.decode_lease, ApiResponse(200, {}, body), "read lease x")
    if isinstance(lease, leases.Lease):
        book = LeaseLock(AcceptingApi(), "here", "it")
        with suppress(KubeError):
            assert await book.update(lease, lease.record)


OURS = {
    "metadata": {
        "name": "x",
        "labels": {event_format.EPISODE_LABEL: "1777636800"},
        "annotations": {
            event_format.DIGEST_ANNOTATION: "abc",
            event_format.SUBJECT_ANNOTATION: (
                '{"layer": "cluster", "namespace": "", "name": "", "reason": "r", "item": ""}'
            ),
        },
    },
    "involvedObject": {"apiVersion": "v1", "kind": "Namespace", "name": "x", "uid": "1"},
    "source": {"component": PROGRAM_NAME},
    "eventTime": "2026-05-01T12:00:00.000000Z",
    "lastTimestamp": "2026-05-01T12:00:00Z",
    "type": "Warning",
    "message": "m",
    "count": 3,
}


def with_valid_name(event):
    """
    Give an Event the name that the reporter would give it, so that the name is no ground to reject
    it.
    """
    found = decode_event(encoded(event))
    if isinstance(found, ForeignEvent) and found.why == event_decoding.OTHER_NAME:
        core = event_decoding._EVENT_DECODER.decode(encoded(event))
        key = event_decoding._parse_key(core.metadata.annotations[event_format.SUBJECT_ANNOTATION])
        for episode in event_decoding._possible_episodes(core):
            end = event_names.episode_hash(key, episode)
            event["metadata"]["name"] = f"{core.involved_object.name}.{end}"
    return event


event_bodies = mutated(with_valid_name(OURS)).map(encoded) | json_of(event_decoding._CoreEvent)


@given(event_bodies.flatmap(lambda raw: st.just(raw) | corrupted(raw)))
def test_an_event_is_a_record_or_foreign(body):
    found = decode_event(body)
    assert isinstance(found, EventRecord | ForeignEvent)
    if isinstance(found, EventRecord):
        again = event_format.encode_event(
            found.rewrite("m", "t", now=found.last_timestamp), instance="x"
        )
        assert encoded(again)


@given(json_of(lister._RawPage))
def test_a_page_is_one_or_an_error(body):
    found = result_or_error(decode_response, lister._RAW_PAGE_DECODER, body, "list")
    assert isinstance(found, lister._RawPage | KubeError)


@given(st.sampled_from([discovery._APIGroupList, discovery._APIResourceList]).flatmap(lambda t: st.tuples(
    st.just(t), json_of(t, names=("kaito.sh", "v1", "APIGroupDiscoveryList"))
)))  # fmt: skip
def test_discovery_is_an_answer_or_an_error(case):
    shape, body = case
    found = result_or_error(
        discovery._decode_response, ApiResponse(200, {}, body), shape, "discover"
    )
    assert isinstance(found, shape | KubeError)
    if isinstance(found, discovery._APIGroupList):
        assert discovery.parse_aggregated(found.items or (), frozenset({"kaito.sh"})) is not None


class CannedApi:
    """An API that always gives the same answer."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def call(self, *_, **__) -> ApiResponse:
        return ApiResponse(200, {}, self._body)


@given(json_of(access_review._Review))
async def test_a_review_is_a_grant(body):
    right = access_review.Permission("get", "", "pods")
    assert (
        await access_review._review_one(CannedApi(body), right) in access_review.PermissionStatus
    )


@pytest.mark.parametrize("kind", DEFAULT_KINDS, ids=lambda kind: kind.resource)
def test_the_grammar_makes_objects_that_can_be_decoded(kind):
    """
    Check that most of the objects drawn can be decoded. Otherwise the tests above prove nothing.
    """
    seen = []

    @given(of_type(kind.type))
    def draw(value):
        line = encoded({"type": "ADDED", "object": value})
        seen.append(type(result_or_error(decode_watch_event, line, kind, ASKED)))

    draw()
    assert seen.count(Upsert) >= len(seen) // 10
