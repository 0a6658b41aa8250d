"""A reflector whose watch has missed a change lists its kind anew."""

import asyncio

from reporter.model.observations import NotSynced, Watching
from tests.integration.kube.reflector_fixture import (
    ScriptedServer,
    a_deployment,
    a_list_response,
    a_watch_event,
    a_watch_response,
    is_watched,
    running_reflector,
)
from tests.support.stubs.api_servers import a_status_response, never_answer, until


async def test_a_missed_event_ends_the_watch_and_lists_anew(tmp_path, caplog):
    cluster = ScriptedServer(
        lists=[
            a_list_response(a_deployment("a")),
            a_list_response(a_deployment("b", "20"), version="20"),
        ],
        watches=[
            a_watch_response(),
            a_watch_response(a_watch_event("ADDED", a_deployment("c", "21"))),
        ],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(is_watched(run))
        run.reflector.report_missed_event()
        await until(lambda: run.store.names == ["b", "c"])
        assert run.store.watch_states == [NotSynced(), Watching()]
        assert [each.query["resourceVersion"] for each in cluster.watched] == ["10", "20"]
        stats = run.reflector.stats
        assert (stats.missed_events, stats.relists, stats.rewatches) == (1, 1, 1)
    assert caplog.text == ""


async def test_two_reports_lead_to_one_list(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a"))], watches=[a_watch_response()]
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(is_watched(run))
        run.reflector.report_missed_event()
        run.reflector.report_missed_event()
        await until(lambda: len(cluster.watched) == 2)
        await asyncio.sleep(0.1)
        assert (len(cluster.listed), len(cluster.watched)) == (2, 2)


async def test_a_report_during_a_list_or_a_pause_changes_nothing(tmp_path):
    async def late(request):
        await asyncio.sleep(0.2)
        return await a_watch_response(then="end")(request)

    cluster = ScriptedServer(
        lists=[a_status_response(500, "InternalError"), never_answer], watches=[late]
    )
    async with running_reflector(tmp_path, cluster) as run:
        run.reflector.report_missed_event()
        await until(lambda: len(cluster.listed) == 2)
        run.reflector.report_missed_event()
        await asyncio.sleep(0.1)
        assert len(cluster.listed) == 2


async def test_a_watch_that_is_being_opened_is_given_up(tmp_path):
    cluster = ScriptedServer(
        lists=[a_list_response(a_deployment("a")), a_list_response(a_deployment("b"))],
        watches=[never_answer, a_watch_response()],
    )
    async with running_reflector(tmp_path, cluster) as run:
        await until(lambda: len(cluster.watched) == 1)
        run.reflector.report_missed_event()
        await until(lambda: run.store.names == ["b"])
        await until(is_watched(run))
