"""The published schema accepts what is rendered, and refuses what is not."""

import json

import pytest

from reporter.server.status_v1 import StatusRequest, render
from tests.support.rollups import model_outage, stack_after, view_of
from tests.support.status_schema import schema_errors


EVERYTHING = StatusRequest()


def rendered(replay, request: StatusRequest = EVERYTHING) -> dict:
    return json.loads(b"".join(render(view_of(replay), request)))


@pytest.mark.parametrize(
    "request_",
    [EVERYTHING, StatusRequest("team-m"), StatusRequest("team-m", "qwen")],
    ids=["all", "a namespace", "an InferenceSet"],
)
def test_each_answer_is_as_published(request_):
    assert schema_errors(rendered(model_outage(), request_)) == []


def test_what_is_unknown_is_as_published():
    lost = stack_after(watch={"inferencesets": "lost", "namespaces": "lost"}, until="2m")
    document = rendered(lost)
    assert document["cluster"]["unlistedLayers"]
    assert schema_errors(document) == []


def wrong(**more) -> dict:
    return {**rendered(model_outage()), **more}


@pytest.mark.parametrize(
    ("document", "where"),
    [
        (wrong(mode="guessing"), "$.mode"),
        (wrong(evaluatedAt=1), "$.evaluatedAt"),
        (wrong(cluster={"state": "Broken"}), "$.cluster"),
        (wrong(namespaces=[{"name": "team-a"}]), "$.namespaces[0]"),
        (wrong(newer=1), "$"),
        ({"mode": "watching"}, "$"),
    ],
    ids=["mode", "time", "state", "a key is missing", "a key is not named", "no schema"],
)
def test_what_is_not_published_is_refused(document, where):
    assert [error for error in schema_errors(document) if error.startswith(f"{where}:")]
