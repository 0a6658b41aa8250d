"""The reader of the log has exited, or its disk is full: evaluation and announcements go on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.controlplane import ControlPlane
from e2e.faults.support.variants import variants
from e2e.support import events
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import BODY_BASED_ROUTER
from e2e.support.reporter_process import PROGRAM, ReporterProcess
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE, SHORT_FLAGS


BBR, READY = "clusterBBRNotReady", "clusterReady"

WAYS = {
    "the disk is full": 'exec "$@" >/dev/full 2>&1',
    "its reader has gone": 'mkfifo "$0"; head -n 3 <"$0" >/dev/null & exec "$@" >"$0" 2>&1',
    "it was never open": 'exec "$@" >&- 2>&-',
}


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with restore.healthy_stack(stack) as plane:
        yield plane


@pytest.mark.parametrize("script", variants(WAYS, "its reader has gone"))
def test_the_process_evaluates_announces_and_ends_without_its_log(
    plane: ControlPlane, tmp_path: Path, script: str
) -> None:
    program = ("/bin/sh", "-c", script, str(tmp_path / "log"), *PROGRAM)
    buffered = {"PYTHONUNBUFFERED": ""}
    flags = (*SHORT_FLAGS, "--zap-log-level=debug")
    with ReporterProcess(plane, *flags, env=buffered, program=program) as reporter:
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        events.wait_for(plane.client, BBR, within=PROMPT_TIMEOUT)
        components.scale(plane.client, BODY_BASED_ROUTER, 2)
        components.until_ready(plane.client, BODY_BASED_ROUTER)
        events.wait_for(plane.client, READY, within=SETTLE + PROMPT_TIMEOUT)
        assert reporter.stop() == 0
        assert reporter.log() == ""
