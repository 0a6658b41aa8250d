"""The verdicts and messages of a download: pod by pod, with what an operator needs to know."""

from datetime import timedelta

import pytest

from reporter.announcing.message import MessageInput, ReportedTrouble, render_message
from reporter.kinds.core import PODS
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active, Clear, Unknown
from reporter.probes.probe import ProbeRequest
from reporter.probes.weight_download import format_speed
from tests.support.builders import MINUTE, NOON
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS
from tests.support.downloads import a_scrape_result
from tests.support.loading_pods import (
    MODEL,
    REASON,
    TEAM,
    a_loading_pod,
    a_loading_store,
    add_failed_scrape,
    add_samples,
)
from tests.support.probe_verdicts import verdicts_of_request


SUBJECT = Subject(Layer.MODELDEPLOYMENT, TEAM, MODEL)
ENTRY = DEFAULT_CATALOGUE[REASON]
POD = a_loading_pod()
SLOW = (3.1, 3.2, 3.3, 3.4, 3.5)


def judged(store, **flags):
    given = {name.replace("_", "-"): value for name, value in flags.items()}
    question = ProbeRequest(REASON, SUBJECT, ENTRY.parameters, {**DEFAULT_FLAGS, **given}, NOON)
    (verdict,) = verdicts_of_request(question, store)
    return verdict


def message_of(verdict) -> str:
    assert isinstance(verdict, Active), verdict
    parts = tuple(ReportedTrouble(trouble, timedelta(0)) for trouble in verdict.troubles)
    return render_message(MessageInput(ENTRY, SUBJECT, parts))


def unknown(verdict) -> str:
    assert isinstance(verdict, Unknown), verdict
    return verdict.why


def pods(verdict) -> list[str]:
    assert isinstance(verdict, Active), verdict
    return [f"{t.cause.object.name} {t.cause.code}" for t in verdict.troubles]


def with_pages(*speeds: float, pod=POD):
    store = a_loading_store(pod)
    add_samples(store, pod, *speeds)
    return store


# ---------------------------------------------------------------- as it reads


def test_a_slow_download_as_it_reads():
    store = a_loading_store(POD)
    for number, each in enumerate(SLOW):
        store.record_scrape(POD, REASON, a_scrape_result(number * 15, each, 16129))
    assert message_of(judged(store)) == (
        "InferenceSet team-a/qwen: model-weights download is slow: every sample in the 60s window"
        " was below 20 MB/s (worst 3.1 MB/s, 56.5 GB left take 4h at this pace,"
        " the startup probe leaves 28m); LLM pod qwen-7rk2p-0, source pod qwen-7rk2p-0."
        " Infrastructure: Check the node's network and the source's rate limits; a mirror of the"
        " model in the cluster makes it independent of both."
    )


def test_a_stall_as_it_reads():
    text = message_of(judged(with_pages(300, 300, 0, 0, 0, 0, 0)))
    assert text == (
        "InferenceSet team-a/qwen: model-weights download is slow: every sample in the 60s window"
        " was below 20 MB/s (worst 0 MB/s, nothing arrives, the startup probe leaves 28m);"
        " LLM pod qwen-7rk2p-0, source pod qwen-7rk2p-0."
        " Infrastructure: Delete the pod so that the download begins anew; check its way to the"
        " source if it stalls again."
    )


def test_without_a_known_size_it_says_what_it_knows():
    store = a_loading_store(POD)
    for number, each in enumerate(SLOW):
        store.record_scrape(POD, REASON, a_scrape_result(number * 15, each, -1))
    assert "below 20 MB/s (worst 3.1 MB/s); LLM pod" in message_of(judged(store))


def test_a_spent_startup_budget_is_in_the_message():
    pod = a_loading_pod(started=NOON - 40 * MINUTE)
    text = message_of(judged(with_pages(*SLOW, pod=pod)))
    assert "at this pace, the 30m of the startup probe are over);" in text


def test_without_a_start_of_the_container_the_message_has_no_budget():
    text = message_of(judged(with_pages(*SLOW, pod=a_loading_pod(started=None))))
    assert "(worst 3.1 MB/s, 3.5 GB left take 16m at this pace); LLM" in text


@pytest.mark.parametrize(
    ("bytes_a_second", "text"),
    [(20e6, "20 MB/s"), (19_999_999, "19.9 MB/s"), (3.14e6, "3.1 MB/s"), (99, "0 MB/s")],
)
def test_a_speed_is_never_rounded_up_to_a_limit(bytes_a_second, text):
    assert format_speed(bytes_a_second) == text


def test_without_a_limit_nothing_is_slow_nor_unknown():
    assert isinstance(judged(with_pages(*SLOW)), Active)
    assert isinstance(judged(with_pages(*SLOW), weight_download_min_mbps="0"), Clear)
    assert isinstance(judged(a_loading_store(POD)), Unknown)
    assert isinstance(judged(a_loading_store(POD), weight_download_min_mbps="0.0"), Clear)


def test_a_slow_download_is_about_the_namespace():
    verdict = judged(with_pages(*SLOW))
    assert isinstance(verdict, Active)
    assert (
        verdict.involved_object.kind,
        verdict.involved_object.name,
        verdict.involved_object.uid,
    ) == (
        "Namespace",
        TEAM,
        "uid-team-a",
    )


# ---------------------------------------------------------------- one pod and another


def test_a_slow_pod_does_not_hide_behind_three_that_are_fast():
    fleet = [a_loading_pod(f"qwen-{n}-0") for n in range(4)]
    store = a_loading_store(*fleet)
    for number, pod in enumerate(fleet):
        add_samples(store, pod, *[3 if number == 2 else 300] * 5)
    assert pods(judged(store)) == ["qwen-2-0 Slow"]


def test_the_message_names_every_slow_pod():
    fleet = [a_loading_pod(f"qwen-{n}-0") for n in range(3)]
    store = a_loading_store(*fleet)
    add_samples(store, fleet[0], *SLOW)
    add_samples(store, fleet[1], *[300] * 5)
    add_samples(store, fleet[2], 300, 0, 0, 0, 0, 0)
    assert pods(judged(store)) == ["qwen-0-0 Slow", "qwen-2-0 Stalled"]


def test_the_pods_of_another_model_or_namespace_are_not_its_own():
    other = a_loading_pod("phi-0", model="phi")
    same_name = a_loading_pod("qwen-9-0", namespace="team-b")
    store = a_loading_store(POD, other, same_name)
    add_samples(store, POD, *[300] * 5)
    add_samples(store, other, *SLOW)
    add_samples(store, same_name, *SLOW)
    assert isinstance(judged(store), Clear)


def test_a_slow_pod_is_active_although_another_cannot_be_read():
    dead = a_loading_pod("qwen-0-0")
    store = a_loading_store(POD, dead)
    add_samples(store, POD, *SLOW)
    add_failed_scrape(store, dead)
    assert pods(judged(store)) == ["qwen-7rk2p-0 Slow"]


def test_a_pod_that_was_slow_and_cannot_be_read_now_is_not_well_while_another_is_slow():
    other = a_loading_pod("qwen-0-0")
    store = a_loading_store(POD, other)
    add_samples(store, POD, *SLOW)
    add_samples(store, other, *SLOW)
    add_failed_scrape(store, other, 75)
    assert pods(judged(store)) == ["qwen-0-0 Slow", "qwen-7rk2p-0 Slow"]


# ---------------------------------------------------------------- what is not known


def test_a_page_that_was_never_read_is_unknown():
    assert unknown(judged(a_loading_store(POD))) == ("pod qwen-7rk2p-0: its page was not read yet")


def test_a_page_that_cannot_be_read_is_unknown_and_says_why():
    store = with_pages(*SLOW)
    add_failed_scrape(store, POD, 75, "nothing listens at port 5000")
    assert unknown(judged(store)) == "pod qwen-7rk2p-0: nothing listens at port 5000"


def test_a_window_that_is_not_full_is_unknown():
    assert "not yet for as long" in unknown(judged(with_pages(3, 3, 3)))


def test_a_page_without_the_metric_is_unknown():
    store = a_loading_store(POD)
    store.record_scrape(POD, REASON, a_scrape_result(0, None))
    assert "does not tell the speed" in unknown(judged(store))


def test_a_pod_whose_newest_version_cannot_be_read_is_unknown():
    store = with_pages(*SLOW)
    store.mark_undecodable(PODS, TEAM, POD.metadata.name)
    assert "could not be decoded" in unknown(judged(store))


# ---------------------------------------------------------------- what is well


@pytest.mark.parametrize(
    "speeds",
    [(300,) * 5, (0,) * 10, (300, 3, 3, 3, 3), (3, 3, 3, 3, 3, 40)],
    ids=["fast", "not begun", "dip", "recovered"],
)
def test_a_download_that_is_not_slow_is_clear(speeds):
    assert isinstance(judged(with_pages(*speeds)), Clear)


def test_without_pods_that_load_there_is_nothing_to_be_slow():
    assert isinstance(judged(a_loading_store()), Clear)
    assert isinstance(judged(a_loading_store(a_loading_pod(ready=True))), Clear)
    assert isinstance(judged(a_loading_store(a_loading_pod(waiting=True))), Clear)
    assert isinstance(judged(a_loading_store(a_loading_pod(deleted=NOON))), Clear)


def test_a_pod_that_becomes_ready_is_clear():
    store = with_pages(*SLOW)
    store.upsert(PODS, a_loading_pod(ready=True))
    assert isinstance(judged(store), Clear)


def test_a_restart_begins_anew():
    store = with_pages(*SLOW)
    store.upsert(PODS, a_loading_pod(restarts=1))
    assert isinstance(judged(store), Unknown)
    add_samples(store, a_loading_pod(restarts=1), 0, 0, begin=75)
    assert isinstance(judged(store), Clear)


# ---------------------------------------------------------------- flags


def test_what_is_slow_is_a_flag():
    assert isinstance(judged(with_pages(*SLOW), weight_download_min_mbps="3"), Clear)
    text = message_of(
        judged(with_pages(300, 300, 300, 300, 300), weight_download_min_mbps="512.5")
    )
    assert "below 512.5 MB/s (worst 300 MB/s" in text


def test_the_window_is_a_flag():
    verdict = judged(with_pages(300, 3, 3, 3), weight_download_window_seconds="30")
    assert "every sample in the 30s window" in message_of(verdict)
