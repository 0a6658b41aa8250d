"""A controller whose probes return what the test sets, with a clock that the test sets."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from reporter.announcing.announcements import Announcements
from reporter.catalogue.entries import HoldDurations
from reporter.controller.controller import Controller
from reporter.evaluation.clocks import Delays
from reporter.evaluation.evaluation import EvaluationSettings
from reporter.evaluation.finished_pass import FinishedPass
from reporter.kinds.apps import DEPLOYMENTS
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.process.clock import Clock
from reporter.store.store import Store
from tests.integration.announcing.publisher_fixture import BBR, an_evaluator, involved_for
from tests.support.background import running_beside
from tests.support.builders import (
    a_catalogue,
    a_deployment,
    an_entry,
)
from tests.support.reason_states import reason_states
from tests.support.stubs.api_servers import until
from tests.support.subject_store import a_subject_store


NEVER = timedelta(hours=1)
SOON = timedelta(milliseconds=300)
MODEL = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")


class SettableClock(Clock):
    """A clock that the test sets; with *stopped* it does not advance. It counts no stalls."""

    def __init__(self) -> None:
        super().__init__()
        self.ahead = timedelta(0)
        self.stopped: datetime | None = None

    def seconds(self) -> float:
        return asyncio.get_running_loop().time()

    def now(self):
        return self.stopped or super().now() + self.ahead


@dataclass
class PassRecorder:
    """
    Record every pass that a follower receives; *then* is called between it and the pause after
    it.
    """

    seen: list[FinishedPass] = field(default_factory=list)
    then: Callable[[], None] = lambda: None

    def follow(self, finished: FinishedPass) -> Iterable[None]:
        self.seen.append(finished)
        self.then()
        return ()

    @property
    def number(self) -> int:
        return len(self.seen)


class ControllerFixture:
    def __init__(self, store: Store, **changes) -> None:
        self.store, self.clock, self.passes = store, SettableClock(), PassRecorder()
        self.verdicts: dict = {}
        entries = (
            an_entry("clusterBBR", 20, holds=HoldDurations(lost=SOON)),
            an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
        )
        evaluator = an_evaluator(
            a_catalogue(*entries),
            self.verdicts,
            settings=EvaluationSettings(Delays(settle=SOON)),
            requires=changes.get("requires", ()),
        )
        self.announcements = Announcements(
            evaluator.catalogue, evaluator.settings, self.clock, involved_for=involved_for
        )
        self.controller = Controller(
            store,
            evaluator,
            self.announcements,
            self.clock,
            resync=changes.get("resync", NEVER),
            followers=(self.passes,),
        )

    @property
    def reason_state(self) -> str:
        """
        The state of the reason in the last pass that all followers have.

        A pass commits a turn of the loop earlier: a test that looks then misses what they do with it.
        """
        if not self.passes.seen:
            return "clear"
        return str(reason_states(self.passes.seen[-1].evaluation).get(BBR, "clear"))

    def change(self, number: int = 1) -> None:
        self.store.upsert(DEPLOYMENTS, a_deployment("any", replicas=number))

    async def wait_for_passes(self, before: int) -> None:
        await self.until(lambda: self.passes.number > before)

    async def until(self, condition: Callable[[], bool]) -> None:
        await until(condition)


@asynccontextmanager
async def running(
    store: Store | None = None, *, subjects: Collection[Subject] = (), **changes
) -> AsyncIterator[ControllerFixture]:
    """Run the controller; with everything listed, its first pass is over."""
    run = ControllerFixture(store or a_subject_store(subjects), **changes)
    async with running_beside(run.controller.run(), "controller"):
        if store is None:
            await run.until(lambda: run.passes.number > 0)
        yield run


def due(run: ControllerFixture) -> list[str]:
    return [
        each.key.reason
        for each in run.announcements.publish_context().pending_writes(now=run.clock.now())
    ]
