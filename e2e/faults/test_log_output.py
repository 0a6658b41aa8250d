"""
Whoever reads the log is gone, or its disk is full: the process goes on judging and speaking.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e import events, repair, stack
from e2e.controlplane import ControlPlane
from e2e.patience import AT_ONCE, QUICK, SETTLE
from e2e.reporter_process import PROGRAM, ReporterProcess
from e2e.stack import BODY_BASED_ROUTER


BBR, READY = "clusterBBRNotReady", "clusterReady"

WAYS = {
    "the disk is full": 'exec "$@" >/dev/full 2>&1',
    "its reader has gone": 'mkfifo "$0"; head -n 3 <"$0" >/dev/null & exec "$@" >"$0" 2>&1',
    "it was never open": 'exec "$@" >&- 2>&-',
}


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with repair.mended(stack) as plane:
        yield plane


@pytest.mark.parametrize("script", WAYS.values(), ids=WAYS)
def test_process_judges_speaks_and_ends_well_without_its_log(
    plane: ControlPlane, tmp_path: Path, script: str
) -> None:
    program = ("/bin/sh", "-c", script, str(tmp_path / "log"), *PROGRAM)
    buffered = {"PYTHONUNBUFFERED": ""}
    flags = (*QUICK, "--zap-log-level=debug")
    with ReporterProcess(plane, *flags, env=buffered, program=program) as reporter:
        stack.scale(plane.client, BODY_BASED_ROUTER, 0)
        events.wait_for(plane.client, BBR, within=AT_ONCE)
        stack.scale(plane.client, BODY_BASED_ROUTER, 2)
        stack.until_ready(plane.client, BODY_BASED_ROUTER)
        events.wait_for(plane.client, READY, within=SETTLE + AT_ONCE)
        assert reporter.stop() == 0
        assert reporter.log() == ""
