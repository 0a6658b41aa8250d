"""
Let a real control plane change all the time, with everything around the reporter in trouble.

Components go out and come back; one replica of the reporter is killed, stopped and started
again, another is paused; the API server is restarted. What was out when is kept, and at the end
every Event is held against it. Exits with 1 when anything was told that was not so, anything was
not told that was, anything was told twice, or the memory of the replica that lived on grew.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime

from e2e.controlplane import ControlPlane, assets, until
from e2e.soak import ground_truth
from e2e.soak.churn import ComponentChurn
from e2e.soak.disturbances import Disturbances
from e2e.soak.ground_truth import AnnouncedEvent, TimeBounds
from e2e.support import events, machine
from e2e.support.arguments import natural
from e2e.support.production_stack import components, restore
from e2e.support.timeouts import SETTLE


BOUNDS = TimeBounds(announce_within=60, late_by=20, join_within=SETTLE + 30)
"""
An API server that restarts and a leader that is killed meanwhile: some 15 s, a lease of 6 s and a
pause of 4 s before the next try; the rest is for a machine that does much else.
"""

GROWTH = 16
"""
MiB by which the memory may be more in the last third than in the second.
"""

CALM = 120


def main() -> int:
    arguments = _arguments()
    try:
        assets.find()
    except assets.AssetsMissing as err:
        print(err, file=sys.stderr)
        return 1
    print(f"seed {arguments.seed}", flush=True)
    with ExitStack() as ends:
        plane = ends.enter_context(ControlPlane())
        components.install(plane.client)
        ends.enter_context(restore.healthy_stack(plane))
        chance = random.Random(arguments.seed)
        churn = ComponentChurn(plane, chance)
        trouble = ends.enter_context(Disturbances(plane, chance))
        _let_run(churn, trouble, seconds=arguments.minutes * 60)
        until(churn.restore_all, within=CALM, what="all is Ready again")
        until(
            lambda: _told(plane)[-1].reason == ground_truth.READY, within=CALM, what="all is told"
        )
        told = _told(plane)
        false = ground_truth.violations(churn.outages, told, BOUNDS, troubles=trouble.disturbed_at)
        wrong = [*false, *_grown(trouble.memory)]
        print("\n".join([*machine.lines(plane), *_table(churn, trouble, told)]))
        if wrong:
            print("\n".join(_story(churn, told)))
            print(f"the logs of both replicas are kept in {trouble.save_logs()}")
    print("\n".join(wrong) or "nothing was wrong", file=sys.stderr)
    return int(bool(wrong))


def _let_run(churn: ComponentChurn, trouble: Disturbances, *, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        churn.step()
        trouble.step()
        time.sleep(0.5)
    trouble.end()


def _told(plane: ControlPlane) -> list[AnnouncedEvent]:
    return [
        AnnouncedEvent(each.reason, datetime.fromisoformat(each.raw["eventTime"]).timestamp())
        for each in events.reporter_events(plane.client)
    ]


def _grown(memory: Sequence[float]) -> Iterator[str]:
    third = len(memory) // 3
    before, after = max(memory[third : 2 * third], default=0), max(memory[2 * third :], default=0)
    if after - before > GROWTH:
        yield f"memory grew from {before:.0f} to {after:.0f} MiB"


def _table(
    churn: ComponentChurn, trouble: Disturbances, told: Sequence[AnnouncedEvent]
) -> Iterator[str]:
    took = sorted(ground_truth.delays(churn.outages, told, BOUNDS))
    yield f"{'outages':34}{len(churn.outages):8}"
    yield f"{'Events':34}{len(told):8}"
    for what, times in trouble.done.items():
        yield f"{what:34}{times:8}"
    if took:
        yield f"{'seconds to the Event, median':34}{took[len(took) // 2]:8.1f}"
        yield f"{'seconds to the Event, most':34}{took[-1]:8.1f}"
    if trouble.memory:
        yield f"{'MiB of memory, least':34}{min(trouble.memory):8.1f}"
        yield f"{'MiB of memory, most':34}{max(trouble.memory):8.1f}"
    yield f"{'seconds of CPU':34}{trouble.cpu:8.1f}"


def _story(churn: ComponentChurn, told: Sequence[AnnouncedEvent]) -> Iterator[str]:
    """
    What happened and what was said of it, in order, for whoever looks for the reason.
    """
    moments = [(each.composed_at, f"Event {each.reason}") for each in told]
    for each in churn.outages:
        moments += [(each.begun, f"out   {each.reason}"), (each.ended, f"back  {each.reason}")]
    for at, what in sorted(moments):
        yield f"{at:.1f} {datetime.fromtimestamp(at, UTC):%H:%M:%S} {what}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m e2e.soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=_minutes, default=20, help="1 to 50; default: 20")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="to repeat it")
    return parser.parse_args()


def _minutes(text: str) -> int:
    """
    Events are read at the end, and live for an hour.
    """
    if natural(text) > 50:
        raise argparse.ArgumentTypeError("must be at most 50")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
