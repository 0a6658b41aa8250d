"""
The checks that every fault test makes: changes during the fault are announced once and correctly.

Before the fault one component is down and announced. During the fault it heals, another one goes
down and, if the reporter cannot see it, a third goes down and heals.
"""

import re
import time
from collections import Counter
from dataclasses import dataclass, field

from e2e.controlplane import ControlPlane, until
from e2e.faults.support import fault_cost
from e2e.support import events
from e2e.support.events import Event
from e2e.support.process_usage import ProcessUsage
from e2e.support.production_stack import components
from e2e.support.production_stack.components import BODY_BASED_ROUTER, ISTIOD, KEDA_KAITO_SCALER
from e2e.support.reporter_process import ReporterProcess
from e2e.support.timeouts import PROMPT_TIMEOUT, SETTLE


HEALED_REASON, BROKEN_REASON, READY = (
    "clusterBBRNotReady",
    "clusterKedaKaitoScalerNotReady",
    "clusterReady",
)
UNSEEN_REASON = "clusterIstioControlPlaneNotReady"
"""The reason with the highest rank of the three, so that nothing else suppresses it."""

RECOVERY = 60
"""
Seconds after a fault until all changes are announced: a pause of at most 33 s between two tries,
then the lists and the settle period; doubled for a busy machine.
"""

MEMORY = 8
"""MiB by which the process may have grown from before a fault to after it."""

IDLE_CPU, CPU_SHARE = 1.0, 0.05
"""Seconds of CPU that a fault may cost at once, and of each second that it lasts."""

STAMP = re.compile(r"^\S+Z ")
NUMBERS = re.compile(r"\d+")


@dataclass
class FaultCheck:
    """The check of one fault. *reporter* leads, and its stack is healthy."""

    plane: ControlPlane
    reporter: ReporterProcess
    warning: Event | None = None
    recovery_seconds: float = -1
    began_at: float = 0
    fault_seconds: float = 0
    usage_before: ProcessUsage | None = None
    usage_during: ProcessUsage | None = None
    usage_after: ProcessUsage | None = None
    events: list[Event] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    # ------------------------------------------------------------ what happens

    def prepare(self) -> None:
        components.scale(self.plane.client, BODY_BASED_ROUTER, 0)
        self.warning = events.wait_for(self.plane.client, HEALED_REASON, within=2 * PROMPT_TIMEOUT)
        self.log = self.reporter.log().splitlines()
        self.usage_before, self.began_at = self._usage(), time.monotonic()

    def change_stack(self, *, unseen: bool = False) -> None:
        """Change the stack during the fault. *unseen*: the reporter sees none of it."""
        client = self.plane.client
        if unseen:
            components.scale(client, ISTIOD, 0)
            until(lambda: not components.pods(client, ISTIOD), within=60, what="istiod is gone")
            components.scale(client, ISTIOD, 1)
            components.until_ready(client, ISTIOD)
        components.scale(client, BODY_BASED_ROUTER, 2)
        components.scale(client, KEDA_KAITO_SCALER, 0)
        components.until_ready(client, BODY_BASED_ROUTER)

    def wait_until_age(self, seconds: float) -> None:
        """Wait until the fault has lasted this long."""
        time.sleep(max(self.began_at + seconds - time.monotonic(), 0))

    def assert_only_known_states(self) -> None:
        """
        Assert that only the state from before the fault is known, or none, while nothing can be
        read.
        """
        known = {reason: s for reason, s in self.reporter.states().items() if s != "unknown"}
        assert known.keys() <= {HEALED_REASON}, known

    def fault_ended(self) -> None:
        """Record the duration and cost of a fault that has just ended."""
        self.fault_seconds, self.usage_during = time.monotonic() - self.began_at, self._usage()

    def wait_recovered(self, *, within: float = RECOVERY) -> None:
        """
        Wait until the changes made during the fault are announced, then end the last episode.
        """
        client = self.plane.client
        events.wait_for(client, BROKEN_REASON, within=within)
        self.recovery_seconds = time.monotonic() - self.began_at - self.fault_seconds
        self.usage_after = self._usage()
        until(
            lambda: HEALED_REASON not in self.reporter.states(),
            within=RECOVERY,
            what="it has healed",
        )
        components.scale(client, KEDA_KAITO_SCALER, 1)
        components.until_ready(client, KEDA_KAITO_SCALER)
        events.wait_for(client, READY, within=SETTLE + 3 * PROMPT_TIMEOUT)
        self.events = events.reporter_events(client)
        self.log = self.reporter.log().splitlines()[len(self.log) :]
        print(self.figures)

    # ------------------------------------------------------------ what must be so

    def assert_expected_events(self) -> None:
        assert [each.reason for each in self.events] == [HEALED_REASON, BROKEN_REASON, READY]
        assert self.events[0].uid == self.warning.uid

    def assert_cheap(self) -> None:
        assert self.reporter.running
        if fault_cost.LIMITED:
            assert self.cpu < IDLE_CPU + CPU_SHARE * self.fault_seconds
            assert self.memory_growth < MEMORY

    def assert_logged(self, containing: str = "", *, at_most: int = 1) -> None:
        """Assert that no log line repeats, numbers aside, and that one contains *containing*."""
        lines = Counter(NUMBERS.sub("0", STAMP.sub("", line)) for line in self.log)
        often = [f"{count} times {line}" for line, count in lines.items() if count > at_most]
        assert not often, often
        found = [line for line in self.log if containing in line]
        assert found, f"no line contains {containing}"

    # ------------------------------------------------------------ what was measured

    @property
    def cpu(self) -> float:
        return self.usage_during.cpu - self.usage_before.cpu

    @property
    def memory_growth(self) -> float:
        return self.usage_after.memory - self.usage_before.memory

    @property
    def figures(self) -> str:
        return (
            f"fault of {self.fault_seconds:.0f} s: announced {self.recovery_seconds:.1f} s after it,"
            f" CPU {self.cpu:.2f} s, memory {self.usage_before.memory:.0f} MiB"
            f" {self.memory_growth:+.1f} MiB, {len(self.log)} lines logged"
        )

    def _usage(self) -> ProcessUsage:
        return ProcessUsage.of(self.reporter.process.pid)
