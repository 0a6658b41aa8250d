"""The decision table of the sidecar, in virtual time."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from reporter.job.reports import Report
from reporter.job.result import InvalidResult, NoFile
from reporter.job.steps import Leave, LookAt, begin, find_adapter, with_patience, with_stop
from reporter.model.job_results import Container, SidecarPod, Terminated
from tests.support.sidecars import (
    FAILURE,
    INVALID,
    RULES,
    SUCCESS,
    ReplayedAdapter,
    file_from,
    from_second,
)


AT_ONCE = replace(RULES, rereads_invalid=False)
OOM, CRASH, DONE = Terminated(137, "OOMKilled"), Terminated(1, "Error"), Terminated(0, "Completed")
OOM_TEXT = "Adapter container was killed due to out of memory (OOMKilled)"
MISSING_TEXT = (
    "Adapter container exited successfully (code 0) but did not produce a valid result file: "
    "Completed"
)
INVALID_TEXT = f"Failed to parse adapter result: {INVALID.error}"
TIMEOUT_TEXT = "Adapter did not produce results within 5m0s"

ROWS = {
    "a success": (
        ReplayedAdapter(file_from(5, SUCCESS)),
        6, Report(True, "AllChecksPassed", "all is well", 0),
    ),
    "a failure": (
        ReplayedAdapter(file_from(5, FAILURE)),
        6, Report(False, "MissingPermissions", "no right", 0),
    ),
    "an invalid file that stays as it is": (
        ReplayedAdapter(file_from(5, INVALID)),
        8, Report(False, "InvalidResultFormat", INVALID_TEXT, 1),
    ),
    "an invalid file, the old way": (
        ReplayedAdapter(file_from(5, INVALID), rules=AT_ONCE),
        6, Report(False, "InvalidResultFormat", INVALID_TEXT, 1),
    ),
    "ended with a success": (
        ReplayedAdapter(file_from(9.5, SUCCESS), from_second(10, DONE)),
        10, Report(True, "AllChecksPassed", "all is well", 0),
    ),
    "ended with an error after a result": (
        ReplayedAdapter(file_from(9.5, FAILURE), from_second(9.5, CRASH)),
        10, Report(False, "MissingPermissions", "no right", 0),
    ),
    "had ended before the sidecar began": (
        ReplayedAdapter(file_from(0, SUCCESS), from_second(0, DONE)),
        0, Report(True, "AllChecksPassed", "all is well", 0),
    ),
    "out of memory": (
        ReplayedAdapter(ended=from_second(3, OOM)),
        10, Report(False, "AdapterOOMKilled", OOM_TEXT, 1),
    ),
    "crashed": (
        ReplayedAdapter(ended=from_second(3, CRASH)),
        10, Report(False, "AdapterExitedWithError", "Adapter container exited with code 1: Error", 1),
    ),
    "ended without a file": (
        ReplayedAdapter(ended=from_second(3, DONE)),
        10, Report(False, "AdapterMissingResults", MISSING_TEXT, 1),
    ),
    "ended with an invalid file": (
        ReplayedAdapter(file_from(9.5, INVALID), from_second(9.5, DONE)),
        10, Report(False, "AdapterMissingResults", MISSING_TEXT, 1),
    ),
    "the deadline": (
        ReplayedAdapter(),
        300, Report(False, "AdapterTimeout", TIMEOUT_TEXT, 1),
    ),
    "ended after the last look before the deadline": (
        ReplayedAdapter(ended=from_second(299, OOM)),
        300, Report(False, "AdapterOOMKilled", OOM_TEXT, 1),
    ),
    "a file at the deadline": (
        ReplayedAdapter(file_from(299, SUCCESS)),
        300, Report(True, "AllChecksPassed", "all is well", 0),
    ),
    "an invalid file at the deadline": (
        ReplayedAdapter(file_from(299, INVALID)),
        300, Report(False, "InvalidResultFormat", INVALID_TEXT, 1),
    ),
    "a file and an end that arrive during the last look at the container": (
        ReplayedAdapter(file_from(303, SUCCESS), from_second(302, DONE), answers_after=4),
        304, Report(True, "AllChecksPassed", "all is well", 0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_row_of_the_decision_table(row):
    adapter, at, report = ROWS[row]
    assert adapter.run() == (at, report)


def test_the_container_is_looked_at_at_once_and_the_file_after_the_first_poll():
    adapter = ReplayedAdapter(rules=replace(RULES, max_wait=timedelta(seconds=21)))
    adapter.run()
    assert [at for at, look in adapter.looks if look is LookAt.CONTAINER] == [0, 10, 20, 21]
    assert [at for at, look in adapter.looks if look is LookAt.FILE] == [*range(2, 22, 2), 21]


def test_a_file_that_is_being_written_is_read_again_and_counts_when_it_is_whole():
    growing = [replace(INVALID, identity=(1, 2, size, 4)) for size in range(3)]

    def file(now):
        return growing[int(now / 2) - 1] if now < 8 else SUCCESS

    assert ReplayedAdapter(file).run() == (8, Report(True, "AllChecksPassed", "all is well", 0))


def test_a_file_that_is_never_the_same_is_invalid_at_the_deadline():
    adapter = ReplayedAdapter(lambda now: InvalidResult("half", (1, 2, int(now), 4)))
    at, report = adapter.run()
    assert (at, report.reason) == (300, "InvalidResultFormat")


def test_an_invalid_file_that_is_removed_does_not_count():
    adapter = ReplayedAdapter(lambda now: INVALID if now == 4 else file_from(20, SUCCESS)(now))
    assert adapter.run()[1].reason == "AllChecksPassed"


def test_an_invalid_file_that_came_again_is_read_once_more():
    adapter = ReplayedAdapter(lambda now: INVALID if now == 4 or now >= 8 else NoFile())
    at, report = adapter.run()
    assert (at, report.reason) == (10, "InvalidResultFormat")


def test_an_invalid_file_that_was_removed_is_forgotten_at_the_deadline():
    adapter = ReplayedAdapter(lambda now: INVALID if now == 4 else NoFile())
    assert adapter.run() == (300, Report(False, "AdapterTimeout", TIMEOUT_TEXT, 1))


def test_the_file_is_polled_while_the_api_server_does_not_answer():
    adapter = ReplayedAdapter(file_from(5, SUCCESS), answers_after=1000)
    assert adapter.run() == (6, Report(True, "AllChecksPassed", "all is well", 0))


# ------------------------------------------------------------ stop signals

STOPS = {
    "a valid file": (file_from(3, SUCCESS), None, "AllChecksPassed"),
    "a valid file of an adapter that ended": (file_from(3, SUCCESS), CRASH, "AllChecksPassed"),
    "an adapter that ended": (file_from(9, SUCCESS), CRASH, "AdapterExitedWithError"),
    "an invalid file of one that ended": (file_from(3, INVALID), OOM, "AdapterOOMKilled"),
}


@pytest.mark.parametrize("row", STOPS)
def test_what_is_there_at_a_stop_signal_is_reported(row):
    file, ended, reason = STOPS[row]
    adapter = ReplayedAdapter(file, from_second(3, ended), stop_at=3)
    at, report = adapter.run()
    assert (at, report.reason) == (3, reason)


@pytest.mark.parametrize("found", [NoFile(), INVALID], ids=["no file", "an invalid file"])
def test_without_a_result_nothing_is_reported_at_a_stop_signal(found):
    assert ReplayedAdapter(lambda _: found, stop_at=1).run() == (1, Leave())


def test_a_native_sidecar_waits_a_little_for_the_status_of_the_adapter():
    patience = timedelta(seconds=5)
    late = ReplayedAdapter(ended=from_second(5.5, CRASH), stop_at=3, patience=patience)
    at, report = late.run()
    assert (at, report.reason) == (6, "AdapterExitedWithError")
    never = ReplayedAdapter(stop_at=3, patience=patience)
    assert never.run() == (8, Leave())
    written = ReplayedAdapter(file_from(4, FAILURE), stop_at=3, patience=patience)
    assert written.run()[1].reason == "MissingPermissions"


def test_patience_that_is_known_after_the_stop_signal_counts_as_well():
    stopped = with_stop(begin(RULES, now=0), RULES, patience=timedelta(0), now=3)
    patient = with_patience(stopped, until=8)
    assert (stopped.stop_until, patient.stop_until) == (3, 8)
    assert with_patience(patient, until=5) == patient
    assert with_patience(begin(RULES, now=0), until=8).stop_until is None


def test_an_invalid_file_never_counts_after_a_stop_signal():
    patience = timedelta(seconds=5)
    adapter = ReplayedAdapter(lambda _: INVALID, stop_at=1, patience=patience)
    assert adapter.run() == (6, Leave())


def test_a_stop_signal_the_old_way_reports_nothing():
    rules = replace(RULES, looks_at_stop=False)
    adapter = ReplayedAdapter(file_from(3, SUCCESS), from_second(3, CRASH), rules, stop_at=3)
    assert adapter.run() == (3, Leave())
    assert adapter.looks == [(0, LookAt.CONTAINER), (2, LookAt.FILE)]


# ------------------------------------------------------------ which container

CONTAINERS = tuple(map(Container, ("istio-proxy", "adapter", "status-reporter")))


@pytest.mark.parametrize(
    ("containers", "named", "own", "expected"),
    [
        (CONTAINERS, "adapter", (), "adapter"),
        (CONTAINERS, "", (), "istio-proxy"),
        (CONTAINERS[1:], "", (), "adapter"),
        (CONTAINERS[2:], "", (), None),
        (CONTAINERS, "other", (), None),
        (CONTAINERS, "status-reporter", (), "status-reporter"),
        (CONTAINERS, "", ("istio-proxy",), "adapter"),
        ((), "", (), None),
    ],
)
def test_the_adapter_is_the_named_container_or_the_first_other_one(
    containers, named, own, expected
):
    pod = SidecarPod(None, containers)
    found = find_adapter(pod, adapter=named, own_names={"status-reporter", *own})
    assert (found and found.name) == expected
