"""The page of a real model server's simulator: in traffic, while it hangs, and after a restart."""

from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.support.model_server import MAX_RUNNING, ModelServer
from reporter.scrape.exposition import MalformedExposition
from reporter.stories.metrics_pages import parse_samples


RUNNING, WAITING = "vllm:num_requests_running", "vllm:num_requests_waiting"
TOKENS = "vllm:generation_tokens_total"


@pytest.fixture
def server(control_plane: ControlPlane) -> Iterator[ModelServer]:
    server = ModelServer(control_plane, "127.0.0.1")
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _value(server: ModelServer, family: str) -> float:
    found = parse_samples(server.page(), [family])
    assert not isinstance(found, MalformedExposition), found
    return sum(sample.value for sample in found)


def _makes_no_progress(server: ModelServer) -> bool:
    """Return whether the queue grows by a request and no token is generated meanwhile."""
    queue, tokens = _value(server, WAITING), _value(server, TOKENS)
    until(lambda: _value(server, WAITING) != queue, within=60, what="the queue changes")
    return _value(server, WAITING) > queue and _value(server, TOKENS) == tokens


@pytest.mark.slow
def test_a_model_server_progresses_in_traffic_hangs_in_good_health_and_counts_anew(
    server: ModelServer,
) -> None:
    with server.requests():
        until(lambda: _value(server, TOKENS) > 0, within=60, what="tokens are generated")
        before = _value(server, TOKENS)
        until(lambda: _value(server, TOKENS) > before, within=60, what="more are generated")
        server.hang()
        # Requests from before come to their end: the running ones, and those that wait for a place.
        until(lambda: _makes_no_progress(server), within=60, what="it hangs")
        stopped, queue = _value(server, TOKENS), _value(server, WAITING)
        until(lambda: _value(server, WAITING) > queue, within=60, what="more requests wait")
    assert (_value(server, TOKENS), _value(server, RUNNING)) == (stopped, MAX_RUNNING)
    assert server.is_healthy()
    server.restart()
    assert [_value(server, each) for each in (TOKENS, RUNNING, WAITING)] == [0, 0, 0]
