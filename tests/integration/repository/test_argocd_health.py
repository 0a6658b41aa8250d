"""The health check for Argo CD agrees with kstatus in every state."""

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from reporter.model.states import State
from reporter.rollup.answers import ObjectAnswer
from reporter.rollup.conditions import make_conditions
from tests.support import kstatus
from tests.support.lua import find_lua


SCRIPT = Path(__file__).parents[3] / "docs" / "examples" / "argocd-health.lua"
HEALTH = {
    kstatus.CURRENT: "Healthy",
    kstatus.IN_PROGRESS: "Progressing",
    kstatus.FAILED: "Degraded",
}


@pytest.fixture
def lua() -> str:
    return find_lua()


def health(lua: str, found: dict) -> tuple[str, str]:
    """
    Return status and message as the script has them, which Argo CD calls with the object as obj.
    """
    program = (
        f"obj = {_literal(found)}\nlocal function check()\n{SCRIPT.read_text('utf-8')}\nend\n"
        'local found = check()\nprint(found.status .. "\\n" .. found.message)\n'
    )
    done = subprocess.run([lua, "-"], input=program, capture_output=True, text=True, check=True)
    status, _, message = done.stdout.partition("\n")
    return status, message.strip()


def _literal(value: object) -> str:
    """Return a JSON value as a Lua expression."""
    if isinstance(value, dict):
        return "{" + ",".join(f"[{json.dumps(k)}]={_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ",".join(map(_literal, value)) + "}"
    return json.dumps(value)


def an_object(state: State, *, generation: int = 1) -> dict:
    now = datetime(2026, 3, 4, tzinfo=UTC)
    conditions = make_conditions(ObjectAnswer(state), {}, generation=1, now=now)
    status = {
        "observedGeneration": 1,
        "state": str(state),
        "conditions": list(msgspec.to_builtins(conditions)),
    }
    return {"metadata": {"generation": generation}, "status": status}


@pytest.mark.parametrize("state", State)
def test_the_health_check_for_argocd_agrees_with_kstatus(lua, state):
    found = an_object(state)
    status, message = health(lua, found)
    assert status == HEALTH[kstatus.compute(found)]
    assert message == state


def test_a_generation_that_was_not_seen_is_progressing(lua):
    assert health(lua, an_object(State.CURRENT, generation=2))[0] == "Progressing"
    assert health(lua, {"metadata": {"generation": 1}})[0] == "Progressing"
    unseen = {"metadata": {"generation": 1}, "status": {"observedGeneration": -1}}
    assert health(lua, unseen)[0] == "Progressing"


def test_a_status_without_conditions_is_not_healthy(lua):
    found = {"metadata": {"generation": 1}, "status": {"observedGeneration": 1}}
    assert health(lua, found)[0] == "Progressing"


def test_the_message_says_what_blocks(lua):
    found = an_object(State.FAILED)
    for each in found["status"]["conditions"]:
        if each["type"] == "Stalled":
            each |= {"reason": "inferencesetModelPodsNotReady", "message": "no pod"}
    assert health(lua, found) == ("Degraded", "inferencesetModelPodsNotReady: no pod")


@pytest.mark.parametrize(
    ("until", "expected"),
    [("2999-01-01T00:00:00Z", "Healthy"), ("2026-01-01T12:15:00Z", "Unknown")],
)
def test_a_status_that_nobody_renews_is_unknown(lua, until, expected):
    found = an_object(State.CURRENT)
    found["status"] |= {"lastEvaluationTime": "2026-01-01T12:00:00Z", "expirationTime": until}
    status, message = health(lua, found)
    assert status == expected
    if status == "Unknown":
        assert message == (
            "Nobody renews the status; the last state, of 2026-01-01T12:00:00Z, was Current"
        )
