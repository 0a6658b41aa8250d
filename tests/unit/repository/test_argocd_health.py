"""
The health check for Argo CD agrees with kstatus in every state.
"""

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from reporter.model.rollup.states import State
from reporter.stages.rollup.objects.answers import Answer
from reporter.stages.rollup.objects.conditions import make_conditions
from tests.support import kstatus


SCRIPT = Path(__file__).parents[3] / "docs" / "examples" / "argocd-health.lua"
LUA = next(filter(None, map(shutil.which, ("lua", "lua5.4", "lua5.3", "lua5.1", "luajit"))), None)
HEALTH = {
    kstatus.CURRENT: "Healthy",
    kstatus.IN_PROGRESS: "Progressing",
    kstatus.FAILED: "Degraded",
}

pytestmark = pytest.mark.skipif(
    LUA is None and os.environ.get("LUA_REQUIRED") != "1",
    reason="no Lua interpreter; apt-get install lua5.4 brings one, LUA_REQUIRED=1 fails without",
)


def health(found: dict) -> tuple[str, str]:
    """
    Return status and message as the script has them, which Argo CD calls with the object as obj.
    """
    assert LUA is not None, "LUA_REQUIRED=1, but there is no Lua interpreter"
    program = (
        f"obj = {_literal(found)}\nlocal function check()\n{SCRIPT.read_text('utf-8')}\nend\n"
        'local found = check()\nprint(found.status .. "\\n" .. found.message)\n'
    )
    done = subprocess.run([LUA, "-"], input=program, capture_output=True, text=True, check=True)
    status, _, message = done.stdout.partition("\n")
    return status, message.strip()


def _literal(value: object) -> str:
    """
    Return a JSON value as a Lua expression.
    """
    if isinstance(value, dict):
        return "{" + ",".join(f"[{json.dumps(k)}]={_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ",".join(map(_literal, value)) + "}"
    return json.dumps(value)


def an_object(state: State, *, generation: int = 1) -> dict:
    now = datetime(2026, 3, 4, tzinfo=UTC)
    conditions = make_conditions(Answer(state), {}, generation=1, now=now)
    status = {
        "observedGeneration": 1,
        "state": str(state),
        "conditions": list(msgspec.to_builtins(conditions)),
    }
    return {"metadata": {"generation": generation}, "status": status}


@pytest.mark.parametrize("state", State)
def test_it_agrees_with_kstatus(state):
    found = an_object(state)
    status, message = health(found)
    assert status == HEALTH[kstatus.compute(found)]
    assert message == state


def test_a_generation_that_was_not_seen_is_progressing():
    assert health(an_object(State.CURRENT, generation=2))[0] == "Progressing"
    assert health({"metadata": {"generation": 1}})[0] == "Progressing"
    unseen = {"metadata": {"generation": 1}, "status": {"observedGeneration": -1}}
    assert health(unseen)[0] == "Progressing"


def test_a_status_without_conditions_is_not_healthy():
    found = {"metadata": {"generation": 1}, "status": {"observedGeneration": 1}}
    assert health(found)[0] == "Progressing"


def test_the_message_says_what_blocks():
    found = an_object(State.FAILED)
    for each in found["status"]["conditions"]:
        if each["type"] == "Stalled":
            each |= {"reason": "inferencesetModelPodsNotReady", "message": "no pod"}
    assert health(found) == ("Degraded", "inferencesetModelPodsNotReady: no pod")
