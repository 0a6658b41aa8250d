"""
Watches, passes, roll-up and second look against an API server in memory, by a clock that the test
sets.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from devcluster.controllers.workloads import running_status
from devcluster.example.team import MODEL, TEAM, WORKSPACE
from devcluster.schema.times import format_time
from devcluster.server import DevCluster
from reporter.announcing.announcements import Announcements
from reporter.announcing.involved import involved_namespace
from reporter.catalogue.entries import Catalogue
from reporter.controller.controller import Controller
from reporter.controller.inputs import Inputs
from reporter.controller.passes import AdaptedEvaluation
from reporter.controller.roll_up_cache import RollUpCache
from reporter.controller.second_look import SecondLook
from reporter.evaluation.catalogue_change import change_catalogue
from reporter.evaluation.clocks import Delays
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.registry import PROBES
from reporter.kube.connect import connect
from reporter.metrics.input_collectors import WatchReport
from reporter.model.states import State
from reporter.model.verdicts import ObjectRef
from reporter.rollup.rules import RollUpRules
from tests.integration.controller.controller_fixture import SettableClock
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.settings import settings
from tests.support.stubs.swallowing_proxy import SwallowingProxy, swallowing_proxy


POD = ("pods", TEAM, f"{WORKSPACE}-0")
SET = ("inferencesets.kaito.sh", TEAM, MODEL)
SETTINGS = settings("--scrape=off")
SETTLE = timedelta(milliseconds=500)
LOOKS_OFTEN = timedelta(milliseconds=50)


class SecondLookFixture:
    def __init__(self, server: DevCluster, proxy: SwallowingProxy, api, clock) -> None:
        self.server, self.proxy, self.api, self.clock = server, proxy, api, clock
        self.inputs = Inputs(
            SETTINGS, DEFAULT_CATALOGUE, api, clock, count_scrape=lambda result: None
        )
        evaluation_settings = EvaluationSettings(Delays(settle=SETTLE))
        self.announcements = announcements = Announcements(
            DEFAULT_CATALOGUE,
            evaluation_settings,
            clock,
            involved_for=partial(involved_namespace, SETTINGS.release_namespace),
        )
        self.rollup = RollUpCache(
            RollUpRules(DEFAULT_CATALOGUE, SETTINGS.flag_texts), announcements, clock.now
        )
        self.controller = Controller(
            self.inputs.store,
            Evaluator(DEFAULT_CATALOGUE, PROBES, SETTINGS.flag_texts, evaluation_settings),
            announcements,
            clock,
            resync=SETTINGS.resync,
            followers=(self.rollup,),
        )
        self.second_look = SecondLook(
            api, self.inputs, self.rollup, clock, track_interval=LOOKS_OFTEN
        )

    def change_catalogue(self, catalogue: Catalogue) -> None:
        """Continue with another catalogue from the next pass on."""
        evaluation_settings = EvaluationSettings(Delays(settle=SETTLE))

        def adapt(before: Evaluation) -> AdaptedEvaluation:
            after = change_catalogue(before, catalogue, evaluation_settings)
            read = self.inputs.prepare_catalogue(catalogue)
            announce = self.announcements.prepare_catalogue(catalogue, evaluation_settings, after)

            def commit() -> None:
                read()
                announce()
                self.rollup.change_rules(RollUpRules(catalogue, SETTINGS.flag_texts))

            return AdaptedEvaluation(after, commit)

        evaluator = Evaluator(catalogue, PROBES, SETTINGS.flag_texts, evaluation_settings)
        self.controller.replace_evaluator(evaluator, adapt)

    @property
    def is_tracked(self) -> bool:
        """
        Return whether the second look waits for the InferenceSet; its time counts from then on.
        """
        return ObjectRef(*SET) in self.second_look._state.tracked

    @property
    def state(self) -> State | None:
        namespace = self.rollup.rollup.namespaces.get(TEAM)
        record = namespace.sets.get(MODEL) if namespace is not None else None
        return record.subject_state.state if record is not None else None

    def report(self, kind: str) -> WatchReport:
        return next(each for each in self.inputs.report().watches if each.kind == kind)

    def set_ready(self, *, ready: bool) -> None:
        pod = self.server.cluster.get(*POD)
        assert pod is not None
        status = running_status(pod, self.clock.now())
        for each in status["conditions"]:
            each["status"] = "True" if ready or each["type"] == "PodScheduled" else "False"
        for each in status["containerStatuses"]:
            each["ready"] = ready
        self.server.cluster.patch(*POD, {"status": status}, subresource="status")

    async def until(self, condition: Callable[[], bool], *, within: float = 60) -> None:
        async with asyncio.timeout(within):
            while not condition():  # noqa: ASYNC110
                await asyncio.sleep(0.02)


@asynccontextmanager
async def looking(folder: Path) -> AsyncIterator[SecondLookFixture]:
    """
    Run all parts until the example's InferenceSet is Current. It is an hour old, its pod is new.
    """
    clock = SettableClock()
    async with DevCluster() as server, swallowing_proxy(server.url) as proxy:
        server.load_example_stack()
        _renew_pod(server, clock.now())
        api = await connect(str(proxy.write_kubeconfig(folder / "kubeconfig")), environ={})
        run = SecondLookFixture(server, proxy, api, clock)
        try:
            async with _running(run):
                await run.until(lambda: run.state is State.CURRENT)
                yield run
        finally:
            await api.close()


def _renew_pod(server: DevCluster, now: datetime) -> None:
    pod = server.cluster.get(*POD)
    assert pod is not None
    server.cluster.delete(*POD)
    server.cluster.upsert(
        {**pod, "metadata": {**pod["metadata"], "creationTimestamp": format_time(now)}}
    )


@asynccontextmanager
async def _running(run: SecondLookFixture) -> AsyncIterator[None]:
    loops = (run.controller.run(), run.rollup.run(), run.second_look.run())
    tasks = [*loops, *(t for _, t in run.inputs.tasks())]
    async with asyncio.TaskGroup() as group:
        started = [group.create_task(task) for task in tasks]
        try:
            yield
        finally:
            for task in started:
                task.cancel()
