"""Each closed connection is counted, and few are logged."""

import logging
from collections import Counter

from reporter.model.enums import ClosedConnection
from reporter.server.connection import ClosedConnectionLog


def test_every_connection_is_counted_and_one_a_minute_is_logged(caplog):
    caplog.set_level(logging.DEBUG)
    counted: Counter[ClosedConnection] = Counter()
    seconds = iter(range(130))
    log = ClosedConnectionLog(lambda why: counted.update([why]), lambda: float(next(seconds)))
    for _ in range(130):
        log.record(ClosedConnection.MALFORMED, "10.0.0.1")
    assert counted == {ClosedConnection.MALFORMED: 130}
    text = (
        "closed a connection of 10.0.0.1: it sent no HTTP/1 request ({} since the last such line)"
    )
    assert [each.getMessage() for each in caplog.records] == [text.format(n) for n in (1, 60, 60)]
    assert {each.levelname for each in caplog.records} == {"DEBUG"}


def test_what_an_operator_can_change_is_a_warning(caplog):
    log = ClosedConnectionLog(lambda _: None, lambda: 0.0)
    for each in ClosedConnection:
        log.record(each, "")
    assert [each.levelname for each in caplog.records] == ["WARNING"]
    assert "too many connections" in caplog.text
