"""A list that arrives in chunks is the same list, and is never held as text as a whole."""

import itertools
import json
import tracemalloc

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.kinds.core import PODS
from reporter.kinds.istio import ENVOY_FILTERS
from reporter.kube.error_mapping import RequestInfo
from reporter.kube.errors import Unreachable
from reporter.kube.lister import BATCH_BYTES, ListStreamDecoder
from reporter.kube.watch_events import decode_list_page


ASKED = RequestInfo("list things")
HEAD = {"apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter"}


def a_pod(name, **more):
    return {"metadata": {"name": name, "namespace": "shop", "resourceVersion": "3"}, **more}


def a_filter(name, **spec):
    return {**HEAD, "metadata": {"name": name, "namespace": "shop"}, "spec": spec}


def of_pods(*items) -> bytes:
    """A list as API servers encode built-in kinds."""
    meta = {"resourceVersion": "12", "continue": "more"}
    return msgspec.json.encode({"kind": "PodList", "metadata": meta, "items": items})


def of_filters(*items) -> bytes:
    """A list as they encode custom resources: the metadata of the list comes last."""
    return msgspec.json.encode({**HEAD, "items": items, "metadata": {"resourceVersion": "12"}})


def arrived(body, kind, *, batch=1, sizes=(7,)):
    arriving = ListStreamDecoder(kind, ASKED, batch)
    begin = 0
    for size in itertools.cycle(sizes):
        if begin >= len(body):
            break
        arriving.feed(body[begin : begin + size])
        begin += size
    return arriving.finish()


LISTS = {
    "pods": (of_pods(*(a_pod(f"pod-{n}", spec={"nodeName": "n"}) for n in range(9))), PODS),
    "filters": (of_filters(*(a_filter(f"filter-{n}") for n in range(9))), ENVOY_FILTERS),
    "one": (of_filters(a_filter("alone")), ENVOY_FILTERS),
    "none": (of_pods(), PODS),
    "null": (b'{"metadata":{"resourceVersion":"1"},"items":null}', PODS),
    "odd": (of_pods(a_pod("a"), a_pod("b", status={"phase": []}), a_pod("c"), a_pod("d")), PODS),
    "objects within that look like items": (
        of_filters(
            a_filter("a", configPatches=[a_filter("inner"), a_filter("inner"), a_filter("inner")]),
            a_filter("b"),
            a_filter("c", configPatches=[a_filter("inner"), a_filter("inner")]),
            a_filter("d"),
        ),
        ENVOY_FILTERS,
    ),
    "texts that look like items": (
        of_filters(
            *(a_filter(str(n), note=f'}},{json.dumps(HEAD)[:-1]},"x":[') for n in range(4))
        ),
        ENVOY_FILTERS,
    ),
    "deep": (
        b'{"metadata":{},"items":[{"metadata":{"name":"a"},"x":%s},{"metadata":{"name":"b"}},'
        b'{"metadata":{"name":"c"}}]}' % (b"[" * 5_000 + b"]" * 5_000),
        ENVOY_FILTERS,
    ),
    "with spaces": (
        json.dumps(json.loads(of_pods(a_pod("a"), a_pod("b"))), indent=1).encode(),
        PODS,
    ),
    "empty objects": (b'{"metadata":{},"items":[{},{},{},{}]}', PODS),
}


@pytest.mark.parametrize("name", LISTS)
@given(st.lists(st.integers(1, 400), min_size=1, max_size=5), st.integers(1, 2_000))
def test_a_list_is_the_same_however_its_stream_is_cut(name, sizes, batch):
    body, kind = LISTS[name]
    try:
        whole = decode_list_page(body, kind, ASKED)
    except Unreachable:
        with pytest.raises(Unreachable):
            arrived(body, kind, batch=batch, sizes=sizes)
    else:
        assert arrived(body, kind, batch=batch, sizes=sizes) == whole


def test_a_streamed_page_has_what_the_list_has():
    page = arrived(LISTS["odd"][0], PODS)
    assert [each.metadata.name for each in page.objects] == ["a", "c", "d"]
    assert [each.name for each in page.undecodable] == [("shop", "b")]
    assert (page.resource_version, page.continue_token) == ("12", "more")


@pytest.mark.parametrize("body", [LISTS["pods"][0], LISTS["filters"][0]], ids=["pods", "filters"])
def test_the_beginning_of_a_list_is_none(body):
    for end in range(len(body)):
        with pytest.raises(Unreachable, match="not a list"):
            arrived(body[:end], PODS, sizes=(64,))


def test_a_list_has_begun_with_its_first_byte():
    arriving = ListStreamDecoder(PODS, ASKED)
    assert not arriving.has_input
    arriving.feed(b"{")
    assert arriving.has_input
    assert not arriving.copy_empty().has_input


def test_a_long_list_is_not_held_as_text():
    body = of_filters(*(a_filter(f"filter-{n}", config="x" * 50_000) for n in range(400)))
    tracemalloc.start()
    try:
        page = arrived(body, ENVOY_FILTERS, batch=BATCH_BYTES, sizes=(2**16,))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(page.objects) == 400
    assert most < len(body) / 2
