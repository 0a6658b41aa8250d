"""The result of one check, row by row: the condition of its newest Job that has reported."""

from datetime import timedelta

import pytest

from reporter.announcing.message import MessageInput, ReportedTrouble, render_message
from reporter.model.verdicts import Trouble
from reporter.probes.jobs import evaluate_check
from reporter.resources.check_result import Inconclusive
from tests.support.builders import HOUR, MINUTE, NOON, a_condition
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.model_builders import SUBJECT
from tests.support.source_builders import a_check_job


RECENTLY = NOON - 5 * MINUTE
PREFIX = "reporter.productionstack.kaito.sh/"
CLEAR, TROUBLE, RUNNING = "clear", "trouble", "running"


def result(*conditions, since=RECENTLY, status="False", reason="NoAnswer", message="", **changes):
    """Return a Job with a condition of these words; *conditions*: those of the Job controller."""
    kind = changes.pop("type", "Available")
    own = a_condition(kind, status, reason, message, since=since)
    given = {"created_at": NOON - HOUR, **changes}
    return a_check_job(given.pop("name", "smoke-1"), *conditions, own, **given)


def bare(*conditions, **changes):
    return a_check_job(
        changes.pop("name", "smoke-1"), *conditions, **{"created_at": NOON - HOUR, **changes}
    )


def annotated(**annotations):
    return {f"{PREFIX}{name.replace('_', '-')}": value for name, value in annotations.items()}


COMPLETE = a_condition("Complete", "True", since=RECENTLY)
FAILED = a_condition("Failed", "True", "BackoffLimitExceeded", since=RECENTLY)


def outcome(*jobs):
    found = evaluate_check(jobs, now=NOON)
    if isinstance(found, Inconclusive):
        return found.why
    return CLEAR if found is None else TROUBLE


NO_RESULT = "check smoke has no result: Job team-a/smoke-1 "
ROWS = {
    "True": (result(status="True"), CLEAR),
    "True, and complete": (result(COMPLETE, status="True"), CLEAR),
    "True, though the Job failed": (result(FAILED, status="True"), CLEAR),
    "False with the file's reason": (result(), TROUBLE),
    "False, and failed": (result(FAILED), TROUBLE),
    "False without a reason": (result(reason=""), TROUBLE),
    "the file was not written in time": (
        result(reason="AdapterTimeout", message="Adapter did not produce results within 5m0s"),
        NO_RESULT + "reported AdapterTimeout: Adapter did not produce results within 5m0s",
    ),
    "out of memory": (
        result(reason="AdapterOOMKilled"),
        NO_RESULT + "reported AdapterOOMKilled",
    ),
    "the check crashed": (
        result(reason="AdapterExitedWithError", message="exited with code 2: Error"),
        NO_RESULT + "reported AdapterExitedWithError: exited with code 2: Error",
    ),
    "no file": (
        result(reason="AdapterMissingResults"),
        NO_RESULT + "reported AdapterMissingResults",
    ),
    "an adapter reason of a later release": (
        result(reason="AdapterEvicted"),
        NO_RESULT + "reported AdapterEvicted",
    ),
    "the file cannot be read": (
        result(reason="InvalidResultFormat"),
        NO_RESULT + "reported InvalidResultFormat",
    ),
    "True with such a reason": (result(status="True", reason="AdapterTimeout"), CLEAR),
    "Failed without it": (
        bare(FAILED),
        NO_RESULT + "failed without condition Available (BackoffLimitExceeded)",
    ),
    "Complete without it": (
        bare(COMPLETE),
        NO_RESULT + "completed without condition Available",
    ),
    "Failed with it Unknown": (
        result(FAILED, status="Unknown"),
        NO_RESULT + "failed with condition Available Unknown (BackoffLimitExceeded)",
    ),
    "a status that no condition has": (
        result(COMPLETE, status="true"),
        NO_RESULT + "completed with condition Available Unknown",
    ),
    "Failed is False": (bare(a_condition("Failed", "False")), CLEAR),
    "is about to fail": (bare(a_condition("FailureTarget", "True")), CLEAR),
    "runs": (bare(), CLEAR),
    "runs, with it Unknown": (result(status="Unknown"), CLEAR),
    "suspended": (bare(a_condition("Suspended", "True")), CLEAR),
    "runs for longer than a result counts": (
        bare(created_at=NOON - 25 * HOUR),
        NO_RESULT + "has run for more than 24h",
    ),
    "a result of 24 hours ago": (
        result(created_at=NOON - 30 * HOUR, since=NOON - 24 * HOUR),
        TROUBLE,
    ),
    "older than that": (
        result(created_at=NOON - 30 * HOUR, since=NOON - 24 * HOUR - MINUTE),
        NO_RESULT + "is the newest that reported, more than 24h ago",
    ),
    "a success older than that": (
        result(created_at=NOON - 30 * HOUR, since=NOON - 25 * HOUR, status="True"),
        NO_RESULT + "is the newest that reported, more than 24h ago",
    ),
    "without a time, an old Job": (
        result(created_at=NOON - 25 * HOUR, since=None),
        NO_RESULT + "is the newest that reported, more than 24h ago",
    ),
    "without a time, a young Job": (result(since=None), TROUBLE),
    "a time in the future, an old Job": (
        result(created_at=NOON - 25 * HOUR, since=NOON + 300 * HOUR),
        NO_RESULT + "is the newest that reported, more than 24h ago",
    ),
    "a time before its creation": (result(since=NOON - 300 * HOUR), TROUBLE),
    "its own max-age is not over": (
        result(
            created_at=NOON - 40 * HOUR,
            since=NOON - 30 * HOUR,
            annotations=annotated(max_age="48h"),
        ),
        TROUBLE,
    ),
    "its own max-age is over": (
        result(annotations=annotated(max_age="4m59s")),
        NO_RESULT + "is the newest that reported, more than 4m ago",
    ),
    "another condition": (
        result(
            type="example.test/Works", annotations=annotated(condition_type="example.test/Works")
        ),
        TROUBLE,
    ),
    "another condition than the one that is there": (
        result(COMPLETE, annotations=annotated(condition_type="Works")),
        NO_RESULT + "completed without condition Works",
    ),
}


@pytest.mark.parametrize(("job", "expected"), ROWS.values(), ids=ROWS)
def test_the_result_of_a_check(job, expected):
    assert outcome(job) == expected


OLD_FAILURE = result(name="smoke-0", created_at=NOON - 2 * HOUR, since=NOON - 2 * HOUR)
OLD_SUCCESS = result(
    name="smoke-0", created_at=NOON - 2 * HOUR, since=NOON - 2 * HOUR, status="True"
)
OF_TWO = {
    "a newer success": ((OLD_FAILURE, result(status="True")), CLEAR),
    "a newer failure": ((OLD_SUCCESS, result()), TROUBLE),
    "the newer one runs, the failure counts": ((OLD_FAILURE, bare()), TROUBLE),
    "the newer one runs, the success counts": ((OLD_SUCCESS, bare()), CLEAR),
    "the newer one has no result": (
        (OLD_FAILURE, bare(FAILED)),
        NO_RESULT + "failed without condition Available (BackoffLimitExceeded)",
    ),
    "both run": ((bare(name="smoke-0", created_at=NOON - 2 * HOUR), bare()), CLEAR),
    "both run, and the older one for too long": (
        (bare(name="smoke-1", created_at=NOON - 25 * HOUR), bare(name="smoke-2")),
        NO_RESULT + "has run for more than 24h",
    ),
    "the newer one is not to be understood": (
        (OLD_SUCCESS, bare(annotations=annotated(max_age="soon"))),
        (
            f'annotation {PREFIX}max-age="soon" of Job team-a/smoke-1 must be a duration such as 24h, '
            "90m or 1h30m"
        ),
    ),
    "of the same second, the later name": (
        (
            result(name="smoke-9", created_at=RECENTLY, status="True"),
            result(name="smoke-8", created_at=RECENTLY),
        ),
        CLEAR,
    ),
}


@pytest.mark.parametrize(("jobs", "expected"), OF_TWO.values(), ids=OF_TWO)
@pytest.mark.parametrize("order", [1, -1])
def test_the_newest_that_has_reported_decides_in_any_order(jobs, expected, order):
    assert outcome(*jobs[::order]) == expected


BAD_TYPES = ["", " ", "Not Good", "x" * 64, "a/b/c", "/x", "X/", "-x", "Üben", "Works\n"]
RESERVED = ["Complete", "Failed", "FailureTarget", "SuccessCriteriaMet", "Suspended"]
BAD_AGES = ["", "0s", "0h0m", "-1h", "1d", "24", "1.5h", "24 h", "1h\n", "h", "12345h", "∞"]


@pytest.mark.parametrize("kind", BAD_TYPES)
def test_a_condition_type_that_is_none_is_unknown_with_what_to_do(kind):
    found = outcome(result(annotations=annotated(condition_type=kind)))
    assert found.startswith(f'annotation {PREFIX}condition-type="')
    assert found.endswith(" must be the type of a condition, such as Available")
    assert "\n" not in found


@pytest.mark.parametrize("kind", RESERVED)
def test_a_condition_of_the_job_controller_is_no_result(kind):
    job = bare(
        a_condition(kind, "True", since=RECENTLY), annotations=annotated(condition_type=kind)
    )
    assert outcome(job) == (
        f'annotation {PREFIX}condition-type="{kind}" of Job team-a/smoke-1 names a condition that'
        " the Job controller writes; name the one that the check writes"
    )


@pytest.mark.parametrize("age", BAD_AGES)
def test_a_max_age_that_is_none_is_unknown_with_what_to_do(age):
    found = outcome(result(annotations=annotated(max_age=age)))
    assert found.startswith(f'annotation {PREFIX}max-age="')
    assert found.endswith(" must be a duration such as 24h, 90m or 1h30m")


def test_a_hostile_annotation_is_quoted_in_part_and_without_secrets():
    found = outcome(
        result(annotations=annotated(max_age="\x1b[31mpassword=hunter2 " + "x" * 9999))
    )
    assert "hunter2" not in found
    assert "\x1b" not in found
    assert len(found.encode()) < 300


# ---------------------------------------------------------------- text of the check


def test_the_message_of_a_check_without_result_is_shortened_and_redacted():
    text = "see https://user:pw@host.test/x?sig=abc, password=hunter2\n" + "é" * 5000
    found = outcome(result(reason="AdapterExitedWithError", message=text))
    assert "hunter2" not in found
    assert "host.test" not in found
    assert "\n" not in found
    assert len(found.encode()) < 400


@pytest.mark.parametrize("reason", ["x" * 5000, "é" * 5000, "a\nb\x1b[2J" + "c" * 2000])
def test_a_message_about_a_hostile_result_fits_and_is_one_line(reason):
    job = result(reason=reason, message="token=abcdefgh1 \u202e" + "ü" * 5000)
    found = evaluate_check([job], now=NOON)
    assert isinstance(found, Trouble)
    entry = DEFAULT_CATALOGUE["inferencesetCheckFailed"]
    text = render_message(MessageInput(entry, SUBJECT, (ReportedTrouble(found, timedelta(0)),)))
    assert len(text.encode()) <= 1024
    assert text.isprintable()
    assert "abcdefgh1" not in text
    assert text.startswith("InferenceSet team-a/qwen: check smoke of Job smoke-1 failed (")
    assert "kubectl logs -n team-a job/smoke-1" in text
