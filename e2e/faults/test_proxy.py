"""The proxy makes the faults that its rules describe, and no others."""

import contextlib
import http.client
import json
import threading

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.faults.support.proxy import FaultProxy
from e2e.faults.support.proxy_rules import WATCH, ProxyRule, StubAnswer


MAPS = "/api/v1/namespaces/default/configmaps"
NAMED = "/api/v1/namespaces/default/configmaps/{}"
DEFAULT = "/api/v1/namespaces/default"
CUT = (http.client.IncompleteRead, ConnectionError)
PATIENCE, IMPATIENCE = 60, 3
"""
Seconds until an answer or its next part is given up: one that comes, and one that never does.
"""


def _ask(
    proxy: FaultProxy,
    plane: ControlPlane,
    method: str = "GET",
    path: str = MAPS,
    body: str = "",
    *,
    timeout: float = PATIENCE,
    rest_timeout: float = PATIENCE,
) -> http.client.HTTPResponse:
    """
    Send a request. The connection closes with the answer, which has to be read or closed.
    *rest_timeout*: that of each part after the head.
    """
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port, timeout=timeout)
    headers = {
        "Authorization": f"Bearer {plane.client.token}",
        "Content-Type": "application/json",
        "Connection": "close",
    }
    try:
        connection.request(method, path, body, headers)
        sent_on = connection.sock
        answer = connection.getresponse()
        sent_on.settimeout(rest_timeout)
        return answer
    finally:
        connection.close()


def _watch(
    proxy: FaultProxy, plane: ControlPlane, *, rest_timeout: float = PATIENCE
) -> http.client.HTTPResponse:
    path = f"{MAPS}?watch=1&timeoutSeconds=300"
    return _ask(proxy, plane, path=path, rest_timeout=rest_timeout)


def _config_map(name: str) -> str:
    return json.dumps({"metadata": {"name": name}})


def test_passes_all_on_and_counts_it(proxy: FaultProxy, stack: ControlPlane) -> None:
    # One object: the version of a list grows with every write to any other.
    answer = _ask(proxy, stack, path=DEFAULT)
    assert json.loads(answer.read()) == json.loads(stack.client.raw("GET", DEFAULT))
    assert answer.headers["Content-Type"] == "application/json"
    assert (proxy.count("default"), proxy.count(methods=("POST",))) == (1, 0)


def test_a_rule_answers_in_place_of_the_server_as_often_as_it_states(
    proxy: FaultProxy, stack: ControlPlane
) -> None:
    proxy.add(ProxyRule(MAPS, times=2, answer=StubAnswer(429, "later", {"Retry-After": "1"})))
    answers = [_ask(proxy, stack) for _ in range(3)]
    bodies = [each.read() for each in answers]
    assert [each.status for each in answers] == [429, 429, 200]
    assert (bodies[0], answers[0].headers["Retry-After"]) == (b"later", "1")


def test_hides_an_answer_whose_request_was_carried_out(
    proxy: FaultProxy, stack: ControlPlane
) -> None:
    with (
        proxy.with_rule(ProxyRule(methods=("POST",), drop_answer=True)),
        pytest.raises(CUT),
    ):
        _ask(proxy, stack, "POST", MAPS, _config_map("hidden"))
    assert stack.client.exists(NAMED.format("hidden"))
    stack.client.delete(NAMED.format("hidden"))


@pytest.mark.slow
@pytest.mark.parametrize("rule", [ProxyRule(hang=True), ProxyRule(delay=3600)])
def test_keeps_its_client_waiting(proxy: FaultProxy, stack: ControlPlane, rule: ProxyRule) -> None:
    with proxy.with_rule(rule), pytest.raises(TimeoutError):
        _ask(proxy, stack, timeout=IMPATIENCE)
    assert _items(proxy, stack)


def test_streams_a_watch_line_by_line_and_changes_one_of_an_open_watch(
    proxy: FaultProxy, stack: ControlPlane
) -> None:
    with _watch(proxy, stack) as watch:
        stack.client.create(MAPS, json.loads(_config_map("changed")))
        while b'"name":"changed"' not in (line := watch.readline()):
            assert line
        proxy.add(ProxyRule(WATCH, transform=lambda line: line[:10] + b"\n"))
        stack.client.delete(NAMED.format("changed"))
        assert watch.readline() == b'{"type":"D\n'


@pytest.mark.parametrize("rule", [ProxyRule(cut_after=0.5), ProxyRule(cut_at=20)])
def test_cuts_an_answer_off(proxy: FaultProxy, stack: ControlPlane, rule: ProxyRule) -> None:
    with proxy.with_rule(rule), _watch(proxy, stack) as watch, pytest.raises(CUT):
        watch.read()
    with _watch(proxy, stack) as watch:
        proxy.cut()
        with pytest.raises(CUT):
            watch.read()


@pytest.mark.slow
def test_frozen_lets_no_byte_through_and_forgets_what_its_client_gave_up(
    proxy: FaultProxy, stack: ControlPlane
) -> None:
    proxy.freeze()
    with pytest.raises(TimeoutError):
        _ask(proxy, stack, "POST", MAPS, _config_map("given-up"), timeout=IMPATIENCE)
    items: list[bool] = []
    waiting = threading.Thread(target=lambda: items.append(_items(proxy, stack)))
    waiting.start()
    until(lambda: proxy.count(methods=("GET",)) == 1, within=30, what="the request arrived")
    proxy.unfreeze()
    waiting.join()
    assert items == [True]
    assert not stack.client.exists(NAMED.format("given-up"))


@pytest.mark.slow
def test_lost_connection_stays_dead_when_new_ones_work(
    proxy: FaultProxy, stack: ControlPlane
) -> None:
    with _watch(proxy, stack, rest_timeout=IMPATIENCE) as watch:
        proxy.freeze()
        stack.client.create(MAPS, json.loads(_config_map("unseen")))
        proxy.unfreeze(lost=True)
        assert _items(proxy, stack)
        received = b""
        with contextlib.suppress(TimeoutError):
            while line := watch.readline():
                received += line
    assert b'"name":"unseen"' not in received
    stack.client.delete(NAMED.format("unseen"))


def _items(proxy: FaultProxy, plane: ControlPlane) -> bool:
    return "items" in json.loads(_ask(proxy, plane).read())
