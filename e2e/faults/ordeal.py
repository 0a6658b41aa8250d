"""
What every fault is measured by: what changed under it is told after it, once and truly.

Before the fault one component is out and announced. Under it that one heals, another goes out
and, where the reporter cannot see it, a third goes out and heals.
"""

import re
import time
from collections import Counter
from dataclasses import dataclass, field

from e2e import events, stack
from e2e.controlplane import ControlPlane, until
from e2e.events import Event
from e2e.faults.usage import Usage
from e2e.patience import AT_ONCE, SETTLE
from e2e.reporter_process import ReporterProcess
from e2e.stack import BODY_BASED_ROUTER, ISTIOD, KEDA_KAITO_SCALER


HEALS, BREAKS, READY = "clusterBBRNotReady", "clusterKedaKaitoScalerNotReady", "clusterReady"
UNSEEN = "clusterIstioControlPlaneNotReady"
"""
Of the highest rank of the three: nothing else would keep it silent.
"""

RECOVERY = 60
"""
Seconds after a fault until all is told: a pause of at most 33 s between two tries, then the
lists and the settle, and twice that for a machine that does much else.
"""

MEMORY = 8
"""
MiB by which the process may have grown from before a fault to after it.
"""

IDLE_CPU, CPU_SHARE = 1.0, 0.05
"""
Seconds of CPU that a fault may cost at once, and of each second that it lasts.
"""

STAMP = re.compile(r"^\S+Z ")
NUMBERS = re.compile(r"\d+")


@dataclass
class Ordeal:
    """
    *reporter* is one that leads a healthy stack.
    """

    plane: ControlPlane
    reporter: ReporterProcess
    warning: Event | None = None
    recovered: float = -1
    begun: float = 0
    lasted: float = 0
    before: Usage | None = None
    under: Usage | None = None
    after: Usage | None = None
    said: list[Event] = field(default_factory=list)
    log: list[str] = field(default_factory=list)

    # ------------------------------------------------------------ what happens

    def prepare(self) -> None:
        stack.scale(self.plane.client, BODY_BASED_ROUTER, 0)
        self.warning = events.wait_for(self.plane.client, HEALS, within=2 * AT_ONCE)
        self.log = self.reporter.log().splitlines()
        self.before, self.begun = self._usage(), time.monotonic()

    def change(self, *, unseen: bool = False) -> None:
        """
        Under the fault. *unseen*: the reporter sees nothing of it.
        """
        client = self.plane.client
        if unseen:
            stack.scale(client, ISTIOD, 0)
            until(lambda: not stack.pods(client, ISTIOD), within=30, what="istiod is gone")
            stack.scale(client, ISTIOD, 1)
            stack.until_ready(client, ISTIOD)
        stack.scale(client, BODY_BASED_ROUTER, 2)
        stack.scale(client, KEDA_KAITO_SCALER, 0)
        stack.until_ready(client, BODY_BASED_ROUTER)

    def last(self, seconds: float) -> None:
        """
        Until the fault is so old.
        """
        time.sleep(max(self.begun + seconds - time.monotonic(), 0))

    def assert_nothing_is_made_up(self) -> None:
        """
        Where nothing is seen, what was so before is all that is known, and perhaps not even that.
        """
        known = {reason: s for reason, s in self.reporter.states().items() if s != "unknown"}
        assert known.keys() <= {HEALS}, known

    def over(self) -> None:
        """
        The fault has just ended: see what it has cost.
        """
        self.lasted, self.under = time.monotonic() - self.begun, self._usage()

    def end(self, *, within: float = RECOVERY) -> None:
        """
        All has changed and the fault is over: see what is told, and end the last episode.
        """
        client = self.plane.client
        events.wait_for(client, BREAKS, within=within)
        self.recovered = time.monotonic() - self.begun - self.lasted
        self.after = self._usage()
        until(lambda: HEALS not in self.reporter.states(), within=RECOVERY, what="it has healed")
        stack.scale(client, KEDA_KAITO_SCALER, 1)
        stack.until_ready(client, KEDA_KAITO_SCALER)
        events.wait_for(client, READY, within=SETTLE + 3 * AT_ONCE)
        self.said = events.ours(client)
        self.log = self.reporter.log().splitlines()[len(self.log) :]
        print(self.figures)

    # ------------------------------------------------------------ what must be so

    def assert_only_the_truth_was_told(self) -> None:
        assert [each.reason for each in self.said] == [HEALS, BREAKS, READY]
        assert self.said[0].uid == self.warning.uid

    def assert_cheap(self) -> None:
        assert self.reporter.running
        assert self.cpu < IDLE_CPU + CPU_SHARE * self.lasted
        assert self.grown < MEMORY

    def assert_logged(self, saying: str = "", *, at_most: int = 1) -> None:
        """
        No line is there more often, if numbers do not count, and one says what it was.
        """
        lines = Counter(NUMBERS.sub("0", STAMP.sub("", line)) for line in self.log)
        often = [f"{count} times {line}" for line, count in lines.items() if count > at_most]
        assert not often, often
        said = [line for line in self.log if saying in line]
        assert said, f"nothing says {saying}"

    # ------------------------------------------------------------ what was measured

    @property
    def cpu(self) -> float:
        return self.under.cpu - self.before.cpu

    @property
    def grown(self) -> float:
        return self.after.memory - self.before.memory

    @property
    def figures(self) -> str:
        return (
            f"fault of {self.lasted:.0f} s: told {self.recovered:.1f} s after it,"
            f" CPU {self.cpu:.2f} s, memory {self.before.memory:.0f} MiB"
            f" {self.grown:+.1f} MiB, {len(self.log)} lines logged"
        )

    def _usage(self) -> Usage:
        return Usage.of(self.reporter.process.pid)
