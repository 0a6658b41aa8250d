"""A subscriber replaces no earlier one."""

from reporter.process.subscribers import Subscribers


def test_all_are_notified_in_order():
    calls: list[str] = []
    changes: Subscribers[str] = Subscribers()
    changes.notify("nobody listens yet")
    changes.subscribe(lambda what: calls.append(f"one: {what}"))
    changes.subscribe(lambda what: calls.append(f"other: {what}"))
    changes.notify("now")
    assert calls == ["one: now", "other: now"]
