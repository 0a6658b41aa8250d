"""
Run the reporter for a long time on a real control plane that changes and fails all the time.

Components are scaled to zero and back. One replica of the reporter is killed, stopped and started
again, the other is paused, and the API server is restarted. Every outage is recorded, and at the
end all Events are compared with them. Exits with 1 if an Event is false, missing or repeated, or
if the memory of the replica that was only paused has grown.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime

from e2e.controlplane import ControlPlane, Options, assets, until
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
A restart of the API server while the leader is killed takes about 15 s, the Lease 6 s, and the
pause before the next try 4 s. The rest is for a busy machine.
"""

MAX_MEMORY_GROWTH = 16
"""MiB by which the peak memory of the last third may exceed that of the second."""

RECOVERY_TIMEOUT = 120
"""Seconds for all components to be Ready, and again for the Ready Event."""


def main() -> int:
    arguments = _arguments()
    try:
        assets.find()
    except assets.AssetsMissing as err:
        print(err, file=sys.stderr)
        return 1
    print(f"seed {arguments.seed}", flush=True)
    with ExitStack() as stack:
        plane = stack.enter_context(ControlPlane(Options(unread_crds=True)))
        components.install(plane.client)
        stack.enter_context(restore.healthy_stack(plane))
        rng = random.Random(arguments.seed)
        churn = ComponentChurn(plane, rng)
        disturbances = stack.enter_context(Disturbances(plane, rng))
        _run(churn, disturbances, seconds=arguments.minutes * 60)
        until(churn.restore_all, within=RECOVERY_TIMEOUT, what="all components are Ready again")
        until(
            lambda: _announced(plane)[-1].reason == ground_truth.READY,
            within=RECOVERY_TIMEOUT,
            what="the last Event is Ready",
        )
        violations = _check(plane, churn, disturbances)
    print("\n".join(violations) or "No violations.", file=sys.stderr)
    return int(bool(violations))


def _check(plane: ControlPlane, churn: ComponentChurn, disturbances: Disturbances) -> list[str]:
    """Print the figures of the run, and return the violations."""
    announced = _announced(plane)
    violations = [
        *ground_truth.violations(
            churn.outages, announced, BOUNDS, disturbed_at=disturbances.disturbed_at
        ),
        *_memory_violations(disturbances.memory),
    ]
    print("\n".join([*machine.lines(plane), *_table(churn, disturbances, announced)]))
    if violations:
        print("\n".join(_timeline(churn, announced)))
        print(f"The logs of both replicas are in {disturbances.save_logs()}")
    return violations


def _run(churn: ComponentChurn, disturbances: Disturbances, *, seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        churn.step()
        disturbances.step()
        time.sleep(0.5)
    disturbances.end()


def _announced(plane: ControlPlane) -> list[AnnouncedEvent]:
    return [
        AnnouncedEvent(event.reason, datetime.fromisoformat(event.raw["eventTime"]).timestamp())
        for event in events.reporter_events(plane.client)
    ]


def _memory_violations(memory: Sequence[float]) -> Iterator[str]:
    third = len(memory) // 3
    before, after = max(memory[third : 2 * third], default=0), max(memory[2 * third :], default=0)
    if after - before > MAX_MEMORY_GROWTH:
        yield f"memory grew from {before:.0f} to {after:.0f} MiB"


def _table(
    churn: ComponentChurn, disturbances: Disturbances, announced: Sequence[AnnouncedEvent]
) -> Iterator[str]:
    delays = sorted(ground_truth.delays(churn.outages, announced, BOUNDS))
    yield f"{'outages':34}{len(churn.outages):8}"
    yield f"{'Events':34}{len(announced):8}"
    for name, count in disturbances.counts.items():
        yield f"{name:34}{count:8}"
    if delays:
        yield f"{'seconds to the Event, median':34}{delays[len(delays) // 2]:8.1f}"
        yield f"{'seconds to the Event, longest':34}{delays[-1]:8.1f}"
    if disturbances.memory:
        yield f"{'MiB of memory, lowest':34}{min(disturbances.memory):8.1f}"
        yield f"{'MiB of memory, highest':34}{max(disturbances.memory):8.1f}"
    yield f"{'seconds of CPU':34}{disturbances.cpu:8.1f}"


def _timeline(churn: ComponentChurn, announced: Sequence[AnnouncedEvent]) -> Iterator[str]:
    """Yield outages and Events in the order of time, to find the cause of a violation."""
    lines = [(event.composed_at, f"Event {event.reason}") for event in announced]
    for outage in churn.outages:
        lines += [
            (outage.begun, f"outage {outage.reason}"),
            (outage.ended, f"Ready {outage.reason}"),
        ]
    for at, text in sorted(lines):
        yield f"{at:.1f} {datetime.fromtimestamp(at, UTC):%H:%M:%S} {text}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m e2e.soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--minutes", type=_minutes, default=20, help="duration, 1 to 50; default: 20"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=random.randrange(10**6),
        help="repeat the run with this seed; default: a random one",
    )
    return parser.parse_args()


def _minutes(text: str) -> int:
    """Refuse more than 50 minutes, as Events are read at the end and expire after an hour."""
    if natural(text) > 50:
        raise argparse.ArgumentTypeError("must be at most 50")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
