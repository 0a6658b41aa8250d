"""A case as a busy machine replays it: each step takes seconds, and the holds are short."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from e2e.support.cases.case_lines import differences
from e2e.support.cases.case_steps import Case, quiet_steps, steps
from e2e.support.cases.short_holds import GRACE, SCRAPE_INTERVAL, ReplayDelays, overlay
from reporter.stories.story_replay import StoryReplay


PACES = (timedelta(seconds=1), timedelta(seconds=5))
"""The times that a step takes which announces nothing, on an idle machine and on a busy one."""

ANNOUNCED_STEP = timedelta(seconds=60)
LONGER_BY = timedelta(seconds=6)
"""The time added to a hold for each step that it has to last."""


class HurriedCase(Exception):
    """A case in which a step has to come before a hold, a settle or a window of seconds ends."""


def find_delays(case: Case) -> ReplayDelays:
    """
    Return the shortest delays with which the case is announced alike at all paces.

    Raise HurriedCase, with what is announced otherwise, if there are none.
    """
    short = ReplayDelays()
    longer = short.hold + LONGER_BY * quiet_steps(case)
    candidates = (short, ReplayDelays(hold=longer), ReplayDelays(hold=longer, settle=longer))
    for each in dict.fromkeys(candidates):
        found = _differences(case, each)
        if not found:
            return each
    raise HurriedCase("\n".join(found))


def _differences(case: Case, delays: ReplayDelays) -> list[str]:
    """Return what is announced otherwise than the case expects."""
    return [
        each for pace in PACES for each in differences(_lines(_slow(case, delays, pace)), case)
    ]


def _lines(story: Mapping[str, Any]) -> list[str]:
    return [each.partition(" ")[2] for each in StoryReplay(story).run().announced]


def _slow(case: Case, delays: ReplayDelays, pace: timedelta) -> Mapping[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(overlay(Path(folder), case, delays).partition("=")[2])
        brief = json.loads(path.read_text())
    flags = {
        **case.get("flags", {}),
        "scrape-interval-seconds": SCRAPE_INTERVAL,
        "startup-grace-seconds": GRACE,
        "settle-seconds": delays.settle.seconds,
    }
    kept = {key: value for key, value in case.items() if key != "status"}
    story = [*_slow_steps(case, pace)]
    end = timedelta(seconds=float(story[-1]["at"].removesuffix("s"))) + ANNOUNCED_STEP
    return {
        **kept,
        "flags": flags,
        "overlay": brief,
        "story": story,
        "until": f"{end.seconds}s",
    }


def _slow_steps(case: Case, pace: timedelta) -> Iterator[Mapping[str, Any]]:
    at = ANNOUNCED_STEP
    for step, lines in steps(case):
        if step.get("change") or step.get("pages"):
            yield {**step, "at": f"{at.seconds}s"}
            at += ANNOUNCED_STEP if lines else pace
