"""The answers of a reporter, and their summary for a target."""

from datetime import timedelta

import msgspec
import pytest

from reporter.kube.errors import Throttled
from reporter.model.enums import Layer
from reporter.model.states import Mode, State
from reporter.model.status_document import (
    ClusterStatus,
    InferenceSetStatus,
    NamespaceStatus,
    StatusDocument,
    StatusError,
    UnlistedLayer,
)
from reporter.status.http_source import Fetched
from reporter.status.one_shot import cannot_read_after
from reporter.status.reporter_answers import read_answer, request_of
from reporter.status.source import EVERYTHING, StatusAnswer, StatusQueryFailed, Target
from reporter.status.summary import summarize


QWEN = InferenceSetStatus(name="qwen", state=State.IN_PROGRESS)
TEAM = NamespaceStatus(name="team-a", state=State.FAILED, inference_sets=(QWEN,))
DOCUMENT = StatusDocument(
    schema="v1", mode=Mode.WATCHING, cluster=ClusterStatus(state=State.CURRENT), namespaces=(TEAM,)
)
JSON = {"Content-Type": "application/json", "ETag": 'W/"1"'}


def answered(body, status=200, headers=None, target=EVERYTHING) -> StatusAnswer:
    raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
    return read_answer(Fetched(status, JSON if headers is None else headers, raw), target)


def refusal(*how, **more) -> StatusQueryFailed:
    with pytest.raises(StatusQueryFailed) as refused:
        answered(*how, **more)
    return refused.value


def test_a_document_is_read_with_its_tag_and_with_keys_of_a_newer_reporter():
    newer = {**msgspec.to_builtins(DOCUMENT), "newer": 1}
    found = answered(newer)
    assert (found.document, found.tag) == (DOCUMENT, 'W/"1"')
    assert found.raw["newer"] == 1


def test_of_the_control_plane_the_namespaces_are_left_out():
    found = answered(DOCUMENT, target=Target(is_cluster=True))
    assert found.document.namespaces == ()
    assert "namespaces" not in found.raw


def test_a_subject_that_is_certainly_not_there_is_no_error():
    error = StatusError(schema="v1", state=State.NOT_FOUND, error="no x", remedy="look")
    found = answered(error, status=404)
    assert (found.document, found.missing) == (None, "no x")


def test_a_page_that_is_not_there_is_an_older_reporter():
    assert "older version" in str(refusal(b"404: Not Found", status=404))


def test_html_is_not_a_reporter():
    why = str(
        refusal(b"<html><title>Sign in</title></html>", headers={"Content-Type": "text/html"})
    )
    assert "HTML page" in why
    assert "http://127.0.0.1:8082" in why


def test_an_html_page_of_a_proxy_that_reaches_no_reporter_may_pass():
    headers = {"Content-Type": "text/html", "Retry-After": "7"}
    refused = refusal(b"<html>Service Unavailable</html>", status=503, headers=headers)
    assert "answers with HTTP 503" in str(refused)
    assert refused.may_pass
    assert refused.pause == timedelta(seconds=7)


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"schema":"v2"}', b"[" * 100_000])
def test_anything_else_is_refused(body):
    assert "not the status of a reporter" in str(refusal(body))


def test_a_state_of_a_newer_reporter_is_refused_with_what_to_do():
    newer = {"schema": "v1", "cluster": {"state": "Better"}}
    assert "use the program of its release" in str(refusal(newer))


def test_a_busy_reporter_may_be_asked_again():
    error = StatusError(schema="v1", error="32 requests wait", remedy="Ask later.")
    refused = refusal(error, status=429, headers={"Retry-After": "5"})
    assert refused.may_pass
    assert refused.pause.total_seconds() == 5
    assert "32 requests wait. Ask later." in str(refused)


@pytest.mark.parametrize(("status", "may_pass"), [(400, False), (500, True), (503, True)])
def test_an_error_of_the_server_may_pass(status, may_pass):
    assert refusal(b"oops", status=status).may_pass is may_pass


def test_a_server_that_is_not_ready_says_when_to_ask_again():
    refused = refusal(b"oops", status=503, headers={"Retry-After": "5"})
    assert (refused.may_pass, refused.pause.total_seconds()) == (True, 5)


@pytest.mark.parametrize(
    ("target", "path"),
    [
        (EVERYTHING, "/status/v1"),
        (Target(is_cluster=True), "/status/v1"),
        (Target("team-a"), "/status/v1/namespaces/team-a"),
        (Target("team-a", "qwen"), "/status/v1/namespaces/team-a/qwen"),
    ],
)
def test_each_target_has_a_path(target, path):
    assert request_of(target).path == path


def test_of_the_control_plane_alone_few_namespaces_are_asked_for():
    assert request_of(EVERYTHING).query == request_of(Target("team-a")).query == ()
    assert request_of(Target(is_cluster=True)).query == (("state", "Terminating"),)


@pytest.mark.parametrize(
    ("target", "namespaces", "state"),
    [
        (Target("team-a"), (TEAM,), State.FAILED),
        (Target("team-a", "qwen"), (TEAM,), State.IN_PROGRESS),
        (
            Target("team-a", "qwen"),
            (msgspec.structs.replace(TEAM, inference_sets=()),),
            "NotFound",
        ),
        (Target("team-b"), (), State.NOT_FOUND),
        (Target(is_cluster=True), (), State.CURRENT),
    ],
)
def test_an_answer_is_about_its_target(target, namespaces, state):
    document = msgspec.structs.replace(DOCUMENT, namespaces=namespaces)
    assert summarize(StatusAnswer(document), target).worst == state


def test_of_everything_the_worst_state_counts_but_not_what_is_being_deleted():
    ending = NamespaceStatus(name="team-b", state=State.TERMINATING)
    unknown = NamespaceStatus(name="team-c", state=State.UNKNOWN)
    for namespaces, worst in {
        (ending,): State.CURRENT,
        (ending, unknown): State.UNKNOWN,
        (unknown, TEAM): State.FAILED,
    }.items():
        document = msgspec.structs.replace(DOCUMENT, namespaces=namespaces)
        assert summarize(StatusAnswer(document), EVERYTHING).worst is worst


def test_a_layer_that_cannot_be_listed_is_unknown_to_who_asks_for_everything():
    unlisted = UnlistedLayer(layer=Layer.MODELDEPLOYMENT, why="may not list")
    cluster = ClusterStatus(state=State.CURRENT, unlisted_layers=(unlisted,))
    answer = StatusAnswer(StatusDocument(schema="v1", mode=Mode.WATCHING, cluster=cluster))
    assert summarize(answer, EVERYTHING).worst is State.UNKNOWN
    assert summarize(answer, Target(is_cluster=True)).worst is State.CURRENT


def test_an_api_server_that_throttles_names_the_pause():
    err = Throttled("list pods", status=429, retry_after=timedelta(seconds=9))
    assert cannot_read_after(err).pause == timedelta(seconds=9)
