"""Laws of the sidecar's decisions, for any file, any end of the adapter and any stop signal."""

from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from reporter.job.reports import Report
from reporter.job.result import FileObservation, InvalidResult, NoFile
from reporter.job.steps import Leave, SidecarRules
from reporter.model.job_results import Terminated
from tests.support.sidecars import FAILURE, SUCCESS, ReplayedAdapter


MOST = 60
SLOWEST = 5.0
"""Seconds of the longest wait; of the slowest answer of the API server."""

files = st.one_of(
    st.just(NoFile()),
    st.sampled_from([SUCCESS, FAILURE]),
    st.builds(InvalidResult, st.just("half"), st.tuples(st.integers(0, 2))),
)
ends = st.builds(
    Terminated, st.sampled_from([0, 1, 137]), st.sampled_from(["Completed", "Error", "OOMKilled"])
)


@st.composite
def adapters(draw):
    max_wait = draw(st.integers(2, MOST))
    rules = SidecarRules(
        timedelta(seconds=draw(st.integers(1, max_wait - 1))),
        timedelta(seconds=max_wait),
        rereads_invalid=draw(st.booleans()),
        looks_at_stop=draw(st.booleans()),
    )
    seen = draw(st.lists(files, min_size=1, max_size=12))
    ended_at, end = draw(st.floats(0, MOST)), draw(ends | st.none())
    return ReplayedAdapter(
        lambda now: seen[int(now) % len(seen)],
        lambda now: end if now >= ended_at else None,
        rules,
        draw(st.floats(0, MOST) | st.none()),
        timedelta(seconds=draw(st.sampled_from([0, 5]))),
        draw(st.floats(0, SLOWEST)),
    )


@given(adapters())
def test_the_sidecar_ends_soon_after_the_deadline_or_the_stop_signal(adapter):
    at, _ = adapter.run()
    more = adapter.patience.total_seconds() + 2 * SLOWEST
    assert at <= adapter.rules.max_wait.total_seconds() + more
    if adapter.stop_at is not None:
        assert at <= adapter.stop_at + more


def noted(look, into):
    """Return *look*, which adds what it finds to a list."""

    def found(now):
        into.append(look(now))
        return into[-1]

    return found


@given(adapters())
def test_what_it_reports_was_seen(adapter):
    seen: list[FileObservation] = []
    ended: list[Terminated | None] = []
    adapter.file, adapter.ended = noted(adapter.file, seen), noted(adapter.ended, ended)
    at, end = adapter.run()
    if isinstance(end, Leave):
        assert adapter.stop_at is not None
        return
    results = [each for each in seen if each in (SUCCESS, FAILURE)]
    assert bool(results) == (end.exit_code == 0)
    if results:
        assert (end.is_true, end.reason) == (results[-1].is_success, results[-1].reason)
    elif end.reason == "AdapterTimeout":
        assert at >= adapter.rules.max_wait.total_seconds()
        assert not any(ended)
    elif end.reason == "InvalidResultFormat":
        assert isinstance(seen[-1], InvalidResult)
        assert not any(ended)
    else:
        assert any(ended)


@given(adapters())
def test_a_file_that_is_there_all_the_time_is_reported_whatever_else_happens(adapter):
    adapter.file = lambda _: SUCCESS
    _, end = adapter.run()
    if adapter.stop_at is not None and not adapter.rules.looks_at_stop:
        assert end in (Leave(), Report(True, SUCCESS.reason, SUCCESS.message, 0))
    else:
        assert end == Report(True, SUCCESS.reason, SUCCESS.message, 0)


@given(adapters())
def test_the_same_happens_each_time(adapter):
    again = replace(adapter, looks=[])
    assert again.run() == adapter.run()
    assert again.looks == adapter.looks
