"""The verdicts about pods that are Ready and whose containers restart."""

from datetime import timedelta

import msgspec
import pytest

from reporter.announcing.message import MessageInput, ReportedTrouble, render_message
from reporter.kinds.core import PODS
from reporter.model.enums import Reason, TroubleKind
from reporter.model.verdicts import Active, Clear, Unknown
from reporter.probes.pod_restarting import PROBE, PodRestartingParameters
from tests.support.builders import MINUTE, NOON, SECOND
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, a_probe_request
from tests.support.model_builders import (
    SUBJECT,
    TEAM,
    WORKSPACE,
    a_model,
    a_model_pod,
    a_model_store,
    a_workspace,
)
from tests.support.model_verdicts import rendered_message
from tests.support.probe_verdicts import only_trouble


REASON = "inferencesetPodRestarting"
THREE = (10, 6, 1)


def a_store_after(*minutes_ago: int, before=(), **changes):
    """
    Return a store that saw a pod restart so many minutes before noon; *before*: other objects.
    """
    store = a_model_store(*a_model(*before))
    for number, ago in enumerate(minutes_ago, start=1):
        ended = {"last_exit": 1, **changes} if number == len(minutes_ago) else {}
        store.upsert(PODS, a_model_pod(restarts=number, running=NOON - ago * MINUTE, **ended))
    return store


def verdict_at(store, now=NOON, **parameters):
    request = msgspec.structs.replace(a_probe_request(REASON), subject=SUBJECT, at=now)
    given = msgspec.structs.replace(request.parameters, **parameters)
    (verdict,) = PROBE.evaluate(
        store.snapshot(), msgspec.structs.replace(request, parameters=given)
    )
    return verdict


def test_three_restarts_within_the_window_are_trouble():
    trouble = only_trouble(verdict := verdict_at(a_store_after(*THREE)))
    assert (trouble.kind, trouble.is_crash) == (TroubleKind.FAILED, True)
    assert (trouble.cause.code, trouble.cause.object.name) == ("Crash", f"{WORKSPACE}-0")
    assert trouble.since == NOON - MINUTE
    assert rendered_message(verdict) == (
        "model pod qwen-7rk2p-0 is ready now, but its container qwen-7rk2p restarted 3 times in 9m,"
        " last Error (exit code 1)."
    )


QUIET = {
    "never": a_store_after(),
    "twice": a_store_after(2, 1),
    "the first too long ago": a_store_after(15, 6, 1),
    "not Ready now": a_store_after(*THREE, ready=False),
    "being deleted": a_store_after(*THREE, deleted=NOON),
}


@pytest.mark.parametrize("store", QUIET.values(), ids=QUIET)
def test_pods_that_restart_rarely_are_clear(store):
    assert isinstance(verdict_at(store), Clear)


def test_restarting_is_over_when_the_third_last_restart_leaves_the_window():
    store = a_store_after(10, 6, 1)
    end = NOON + 5 * MINUTE
    assert isinstance(verdict_at(store, end - SECOND), Active)
    assert isinstance(verdict_at(store, end), Clear)


def test_the_text_stays_while_nothing_happens():
    store = a_store_after(14, 10, 6, 1)
    assert (
        rendered_message(verdict_at(store))
        == rendered_message(verdict_at(store, NOON + 4 * MINUTE))
        == "model pod qwen-7rk2p-0 is ready now, but its container qwen-7rk2p restarted 4 times in"
        " 13m, last Error (exit code 1)."
    )


def test_number_and_window_are_parameters():
    store = a_store_after(30, 20)
    assert isinstance(verdict_at(store), Clear)
    assert isinstance(verdict_at(store, restarts=2, window_seconds=3600), Active)


@pytest.mark.parametrize(
    "given", [{"restarts": 1}, {"restarts": 11}, {"window-seconds": 59}, {"window": 60}]
)
def test_parameters_that_cannot_be_met_are_refused(given):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(
            {"restarts": 3, "window-seconds": 900, **given}, type=PodRestartingParameters
        )


ENDS = {
    "OutOfMemory": ({"last_exit": 137, "last": "OOMKilled"}, ", last OOMKilled (exit code 137)"),
    "Killed": ({"last_exit": 143}, ", last Error (exit code 143)"),
    "Ended": ({"last_exit": 0, "last": "Completed"}, ", last Completed (exit code 0)"),
    "Crash": ({"last_exit": 139, "last": ""}, ", last ended (exit code 139)"),
}


@pytest.mark.parametrize(("code", "words", "text"), [(k, *v) for k, v in ENDS.items()])
def test_the_last_end_decides_the_cause(code, words, text):
    trouble = only_trouble(verdict_at(a_store_after(*THREE, **words)))
    assert (trouble.cause.code, trouble.message_fields["last"]) == (code, text)


def test_another_container_of_the_pod_is_named_and_is_another_cause():
    pods = [
        a_model_pod(
            container="proxy",
            restarts=number,
            running=NOON - ago * MINUTE,
            last_exit=1,
            sidecars={WORKSPACE: True},
        )
        for number, ago in enumerate((12, *THREE))
    ]
    store = a_model_store(*a_model(pods[0]))
    for pod in pods[1:]:
        store.upsert(PODS, pod)
    trouble = only_trouble(verdict_at(store))
    assert trouble.cause.code == "OtherContainer.Crash"
    assert trouble.message_fields["container"] == "proxy"
    message = MessageInput(
        DEFAULT_CATALOGUE[Reason(REASON)], SUBJECT, (ReportedTrouble(trouble, timedelta(0)),)
    )
    remedy = f"kubectl logs -n {TEAM} {WORKSPACE}-0 -c proxy --previous; the model's own container"
    assert remedy in render_message(message)


def test_of_a_replica_that_is_rolled_out_or_upgraded_it_is_part_of_the_change():
    store = a_store_after(*THREE, before=[a_model_pod(1, revision="2")])
    assert only_trouble(verdict_at(store)).kind is TroubleKind.STARTING
    upgraded = a_workspace(
        labels={"kaito.sh/upgrade-to-version": "0.2.0"},
        annotations={"kaito.sh/upgrade-start-time": NOON.isoformat()},
    )
    store = a_store_after(*THREE, before=[upgraded])
    assert only_trouble(verdict_at(store)).kind is TroubleKind.STARTING


def test_a_change_of_one_replica_is_none_of_another():
    before = [
        a_workspace("qwen-b2"),
        a_model_pod(0, "qwen-b2"),
        a_model_pod(1, "qwen-b2", revision="2"),
    ]
    store = a_store_after(*THREE, before=before)
    assert only_trouble(verdict_at(store)).kind is TroubleKind.FAILED


def test_restarts_whose_times_nobody_saw_are_unknown_where_they_matter():
    words = {"restarts": 9, "last_exit": 1}
    seen = a_model_pod(running=NOON - MINUTE, last_running=NOON - 2 * MINUTE, **words)
    verdict = verdict_at(store := a_model_store(*a_model(seen)))
    assert isinstance(verdict, Unknown)
    assert verdict.why == (
        "pod qwen-7rk2p-0: container qwen-7rk2p restarted 9 times, and when it did is not known of"
        " each"
    )
    assert isinstance(verdict_at(store, NOON + 13 * MINUTE), Clear)
    young = a_model_pod(running=NOON, started=NOON - 8 * MINUTE, **words)
    verdict = verdict_at(a_model_store(*a_model(young)))
    assert "restarted 9 times in 8m" in rendered_message(verdict)


def test_what_is_not_known_of_one_pod_does_not_hide_another():
    unseen = a_model_pod(1, restarts=9, running=NOON, last_exit=1)
    verdict = verdict_at(a_store_after(*THREE, before=[unseen]))
    assert only_trouble(verdict).cause.object.name == f"{WORKSPACE}-0"
    assert "qwen-7rk2p-1" in verdict.why_partial


def test_the_last_words_of_the_container_are_foreign_text():
    store = a_store_after(*THREE)
    pod = store.get_pod("team-a", f"{WORKSPACE}-0")
    (status,) = pod.status.container_statuses
    ended = msgspec.structs.replace(status.last_state.terminated, message="CUDA error")
    last = msgspec.structs.replace(status.last_state, terminated=ended)
    statuses = (msgspec.structs.replace(status, last_state=last),)
    changed = msgspec.structs.replace(pod.status, container_statuses=statuses)
    store.upsert(PODS, msgspec.structs.replace(pod, status=changed))
    assert only_trouble(verdict_at(store)).foreign_text == "CUDA error"
