"""One malformed object hides no other, whatever its JSON."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.kinds.istio import ENVOY_FILTERS, EnvoyFilter
from reporter.kube.api_status import MAX_RETRY_AFTER_SECONDS, decode_status, parse_retry_after
from reporter.kube.client import ApiResponse
from reporter.kube.decoding import MAX_DEPTH, decode_json, limit_depth
from reporter.kube.error_mapping import RequestInfo
from reporter.kube.leases import decode_lease, encode_lease_record
from reporter.kube.watch_events import Upsert, decode_list_page, decode_watch_event


ASKED = RequestInfo("list envoyfilters")
DEEP = [b"[" * 10_000 + b"]" * 10_000, b'{"a":' * 10_000 + b'"]}\\"[{"' + b"}" * 10_000]
values = st.recursive(
    st.none() | st.integers(0, 9) | st.text('{}[]",\\x', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
)


@pytest.mark.parametrize("deep", DEEP)
def test_an_object_of_endless_nesting_is_read_as_far_as_it_is_needed(deep):
    odd = b'{"metadata":{"name":"odd"},"x":%s,"spec":{"workloadSelector":{}}}' % deep
    body = b'{"metadata":{},"items":[%s,{"metadata":{"name":"plain"}}]}' % odd
    page = decode_list_page(body, ENVOY_FILTERS, ASKED)
    assert [each.metadata.name for each in page.objects] == ["odd", "plain"]
    assert isinstance(page.objects[0], EnvoyFilter)
    assert page.objects[0].spec.workload_selector is not None
    change = decode_watch_event(b'{"type":"ADDED","object":%s}' % odd, ENVOY_FILTERS, ASKED)
    assert isinstance(change, Upsert)


@given(values)
def test_what_is_not_deep_stays_as_it_is(value):
    raw = msgspec.json.encode(value)
    assert limit_depth(raw) == raw


@given(values, st.integers(1, 3 * MAX_DEPTH))
def test_what_is_deep_ends_in_null_and_is_json_still(value, depth):
    for _ in range(depth):
        value = {"a": [value, 1]}
    left = msgspec.json.decode(limit_depth(msgspec.json.encode(value)))
    for _ in range(min(depth, MAX_DEPTH // 2)):
        left, one = left["a"]
        assert one == 1 or left is None


@pytest.mark.parametrize("raw", [b"[" * 5_000, b'"' + b'\\"' * 100_000, b"]" * 5_000, b'[{"a'])
def test_what_is_no_json_stays_none(raw):
    with pytest.raises(msgspec.DecodeError):
        decode_json(msgspec.json.Decoder(), limit_depth(raw))


def test_bytes_that_are_no_text_are_the_same_error():
    with pytest.raises(msgspec.DecodeError):
        decode_json(msgspec.json.Decoder(), b'"\xff"')


def test_numbers_of_a_lease_without_bounds_are_brought_into_theirs():
    body = b'{"spec":{"leaseDurationSeconds":1000000000000000000,"leaseTransitions":2147483647}}'
    lease = decode_lease(ApiResponse(200, {}, body), "read lease x")
    written = encode_lease_record(lease.record)
    assert written["leaseDurationSeconds"] == 2**31 - 1
    assert written["leaseTransitions"] + 1 < 2**31


def test_an_endless_pause_is_cut():
    status = decode_status(b'{"kind":"Status","details":{"retryAfterSeconds":1000000000000000}}')
    assert parse_retry_after({}, status).total_seconds() == MAX_RETRY_AFTER_SECONDS
