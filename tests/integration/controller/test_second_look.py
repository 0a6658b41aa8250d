"""A second look finds what an open watch does not deliver."""

import asyncio

import pytest

from devcluster.http.faults.rules import truncated_response
from reporter.cli.configuration import load_shipped_catalogue
from reporter.controller.reread_schedule import MINUTE
from reporter.controller.second_look import SecondLook
from reporter.evaluation.registry import SPECS
from reporter.kinds.core import PODS
from reporter.model.states import State
from reporter.rollup.records import RollUp
from tests.integration.controller.second_look_fixture import POD, SET, looking
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


LATER = {"name": "later"}
MISSED = "has missed a change of"


async def test_a_missed_change_of_a_young_pod_is_found(tmp_path, caplog):
    caplog.set_level("DEBUG", "reporter.controller.second_look")
    async with looking(tmp_path) as run:
        run.set_ready(ready=False)
        await run.until(lambda: run.state is State.IN_PROGRESS)
        run.proxy.swallow(POD[2])
        run.set_ready(ready=True)
        await run.until(lambda: run.state is State.CURRENT)
        assert run.proxy.swallowed == [("MODIFIED", POD[2])]
        assert set(run.proxy.looks) == {f"/api/v1/namespaces/{POD[1]}/pods"}
        await run.until(lambda: run.report("pods").relists > 0)
        report = run.report("pods")
        assert (report.missed_events, report.relists, report.watching) == (1, 1, True)
        others = [each for each in run.inputs.report().watches if each.kind != "pods"]
        assert {(each.missed_events, each.relists) for each in others} == {(0, 0)}
        run.set_ready(ready=False)
        await run.until(lambda: run.state is State.IN_PROGRESS)
    assert caplog.text.count(MISSED) == 1
    assert f"{MISSED} Pod {POD[1]}/{POD[2]}" in caplog.text
    assert f"second look at Pod {POD[1]}/{POD[2]}: differs" in caplog.text


async def test_a_missed_deletion_is_found(tmp_path):
    async with looking(tmp_path) as run:
        run.set_ready(ready=False)
        await run.until(lambda: run.state is State.IN_PROGRESS)
        before = run.report("pods").objects
        run.proxy.swallow(POD[2])
        run.server.cluster.delete(*POD)
        await run.until(lambda: run.report("pods").objects == before - 1)
        assert run.proxy.swallowed == [("DELETED", POD[2])]
        assert run.report("pods").missed_events == 1


async def test_a_missed_creation_is_found(tmp_path):
    router = ("deployments.apps", "kaito-system", "body-based-router")
    async with looking(tmp_path) as run:
        manifest = run.server.cluster.get(*router)
        run.server.cluster.delete(*router)
        await run.until(lambda: run.rollup.rollup.cluster.subject_state.state is State.IN_PROGRESS)
        run.proxy.swallow(router[2])
        run.server.cluster.upsert(manifest)
        await run.until(lambda: run.report(router[0]).missed_events == 1)
        await run.until(
            lambda: (
                run.rollup.rollup.cluster.subject_state.blocker is None
                or run.rollup.rollup.cluster.subject_state.blocker.code == "Settling"
            )
        )
        assert run.proxy.swallowed == [("ADDED", router[2])]


async def test_a_look_at_a_kind_that_goes_meanwhile_changes_nothing(tmp_path, caplog):
    off = "".join(
        f"  {each.reason}: {{ enabled: false }}\n"
        for each in DEFAULT_CATALOGUE.entries.values()
        if each.is_evaluated and PODS in SPECS[each.probe].bound(each.parameters).watched_kinds(())
    )
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(f"reasons:\n{off}")
    async with looking(tmp_path) as run:
        run.proxy.looks_pass.clear()
        run.set_ready(ready=False)
        await run.until(lambda: bool(run.proxy.looks))
        run.change_catalogue(load_shipped_catalogue(overlay))
        await run.until(lambda: PODS not in run.inputs.store.kinds)
        run.proxy.looks_pass.set()
        seen = run.report("namespaces").objects
        run.server.cluster.upsert({"kind": "Namespace", "apiVersion": "v1", "metadata": LATER})
        await run.until(lambda: run.report("namespaces").objects > seen)
        run.change_catalogue(DEFAULT_CATALOGUE)
        looks = len(run.proxy.looks)
        await run.until(lambda: len(run.proxy.looks) > looks)
    assert "the second look failed" not in caplog.text


async def test_an_old_object_is_looked_at_every_five_minutes(tmp_path):
    async with looking(tmp_path) as run:
        stale = {"spec": {"nodeCountLimit": 5}}
        run.server.cluster.patch(*SET, stale)
        await run.until(lambda: run.state is State.IN_PROGRESS)
        await run.until(lambda: run.is_tracked)
        run.proxy.swallow(SET[2])
        observe_newest_generation(run)
        await run.until(lambda: bool(run.proxy.swallowed))
        await asyncio.sleep(0.3)
        run.clock.ahead += 4 * MINUTE
        await asyncio.sleep(0.3)
        assert run.proxy.looks == []
        run.clock.ahead += MINUTE
        await run.until(lambda: run.state is State.CURRENT)
        assert run.report(SET[0]).missed_events == 1
        assert len(run.proxy.looks) == 2


def observe_newest_generation(run) -> None:
    found = run.server.cluster.get(*SET)
    conditions = [
        {**each, "observedGeneration": found["metadata"]["generation"]}
        for each in found["status"]["conditions"]
    ]
    status = {"status": {"conditions": conditions}}
    run.server.cluster.patch(*SET, status, subresource="status")


async def test_nothing_is_looked_at_while_all_is_current(tmp_path):
    async with looking(tmp_path) as run:
        run.proxy.swallow(POD[2])
        run.server.cluster.patch(*POD, {"metadata": {"labels": {"changed": "yes"}}})
        await run.until(lambda: bool(run.proxy.swallowed))
        await asyncio.sleep(3)
        assert run.proxy.looks == []


async def test_a_change_in_nothing_that_is_read_lists_nothing_anew(tmp_path):
    async with looking(tmp_path) as run:
        run.set_ready(ready=False)
        await run.until(lambda: run.state is State.IN_PROGRESS)
        run.proxy.swallow(POD[2])
        run.server.cluster.patch(*POD, {"metadata": {"annotations": {"changed": "yes"}}})
        await run.until(lambda: bool(run.proxy.swallowed))
        looks = len(run.proxy.looks)
        # A missed change would be reported after the second look that finds it, before the third.
        await run.until(lambda: len(run.proxy.looks) >= looks + 3)
        assert run.report("pods").missed_events == 0


@pytest.mark.parametrize("status", ["forbidden", "broken"])
async def test_a_look_that_fails_delays_no_pass_and_is_repeated(tmp_path, status):
    async with looking(tmp_path) as run:
        if status == "forbidden":
            run.server.deny("list", resource="pods")
        else:
            run.server.faults.add(truncated_response(), path="metadata.name")
        run.set_ready(ready=False)
        await run.until(lambda: run.state is State.IN_PROGRESS)
        run.proxy.swallow(POD[2])
        run.set_ready(ready=True)
        await run.until(lambda: bool(run.proxy.looks))
        run.server.cluster.patch(
            "deployments.apps", "kaito-system", "body-based-router", {"spec": {"replicas": 0}}
        )
        await run.until(lambda: run.rollup.rollup.cluster.subject_state.state is State.FAILED)
        assert run.state is State.IN_PROGRESS
        run.server.allow()
        run.server.faults.clear()
        await run.until(lambda: run.report("pods").missed_events == 1)
        await run.until(lambda: run.state is not State.IN_PROGRESS)


class BrokenRollUps:
    """A roll-up that cannot be read."""

    reads = 0

    @property
    def rollup(self) -> RollUp:
        self.reads += 1
        raise RuntimeError("no roll-up")

    async def next_change(self) -> None:
        await asyncio.Event().wait()


async def test_a_fault_of_its_own_ends_nothing(tmp_path, caplog):
    async with looking(tmp_path) as run:
        broken = BrokenRollUps()
        second_look = SecondLook(run.api, run.inputs, broken, run.clock)
        task = asyncio.create_task(second_look.run())
        await run.until(lambda: "the second look failed" in caplog.text)
        assert not task.done()
        assert broken.reads == 1
        task.cancel()
