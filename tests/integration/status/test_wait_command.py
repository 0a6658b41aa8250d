"""The command wait, as a pipeline runs it."""

from pathlib import Path

import msgspec
import pytest
from aiohttp import web

from devcluster.server import DevCluster
from reporter.model.states import Mode, State
from reporter.model.status_document import NamespaceStatus, StatusDocument
from reporter.process.clock import Clock
from tests.integration.status.asking import (
    INFERENCE_SET,
    MODEL_POD,
    running,
    scale_to_zero,
    scale_up,
    server,
    serving_reporter,
    wait,
    wait_for,
)
from tests.support.stubs.api_servers import a_json_response, serving


__all__ = ["server"]


async def test_what_is_available_ends_it_at_once(server: DevCluster, tmp_path: Path):
    ended = await wait_for(server, tmp_path, "team-a/qwen")
    assert (ended.code, ended.out) == (0, "team-a/qwen is available\n")
    assert "team-a/qwen: Ready; 1 of 1 ready" in ended.err


@pytest.mark.parametrize(
    ("argv", "code", "expected"),
    [
        (["cluster", "--timeout=1s"], 3, "cluster is not ready after 1s: Failed"),
        (["cluster", "--timeout=30s", "--fail-fast"], 4, "cluster has failed: Failed"),
        (["team-z", "--timeout=1s"], 3, "team-z is not available after 1s: NotFound"),
        (["team-z", "--for=gone"], 0, "team-z is gone"),
        (["team-a", "--for=gone", "--timeout=1s"], 3, "team-a is not gone after 1s: Ready"),
        (["team-a", "--for=ready"], 0, "team-a is ready"),
        (["team-a", "--timeout=30s"], 0, "team-a is available"),
        (["cluster", "--timeout=0s"], 3, "cluster is not ready after 0s: Failed"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
async def test_each_end_has_its_exit_code_and_one_line(
    server: DevCluster, tmp_path: Path, argv, code, expected
):
    scale_to_zero(server)
    ended = await wait_for(server, tmp_path, *argv)
    assert ended.code == code
    assert ended.out.startswith(expected)
    assert ended.out.count("\n") == 1


async def test_a_set_that_is_being_deleted_ends_a_fast_wait(server: DevCluster, tmp_path: Path):
    server.cluster.patch(*INFERENCE_SET, {"metadata": {"finalizers": ["kaito.sh/held"]}})
    server.cluster.delete(*INFERENCE_SET)
    ended = await wait_for(server, tmp_path, "team-a/qwen", "--fail-fast", "--timeout=30s")
    assert ended.code == 6
    assert ended.out.startswith("team-a/qwen is being deleted")


async def test_what_cannot_be_judged_is_waited_for(server: DevCluster, tmp_path: Path):
    server.deny("list", "kaito.sh", "inferencesets")
    ended = await wait_for(server, tmp_path, "team-a", "--timeout=2s", "--fail-fast")
    assert ended.code == 3
    assert "Unknown" in ended.out


async def test_a_trouble_that_has_just_begun_does_not_end_a_fast_wait(
    server: DevCluster, tmp_path: Path
):
    now = Clock().now().strftime("%Y-%m-%dT%H:%M:%SZ")
    starting = {"name": "vllm", "ready": False, "state": {"running": {"startedAt": now}}}
    server.cluster.patch(
        *MODEL_POD,
        {
            "status": {
                "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": now}],
                "containerStatuses": [starting],
            }
        },
        subresource="status",
    )
    ended = await wait_for(server, tmp_path, "team-a/qwen", "--timeout=3s", "--fail-fast")
    assert ended.code == 3


async def test_a_reporter_wakes_it_by_a_change(server: DevCluster, tmp_path: Path):
    scale_to_zero(server)
    async with serving_reporter(server, tmp_path, "--settle-seconds=0") as reporter:
        url = f"http://{reporter.health_at}"
        async with running("wait", "cluster", "--timeout=50s", f"--from={url}") as waiting:
            await waiting.reports("cluster: Failed")
            scale_up(server)
            ended = await waiting.ended()
    assert (ended.code, ended.out) == (0, "cluster is ready\n")


async def test_a_reporter_is_believed_only_after_a_pass_since_the_first_answer():
    first, later = "2026-05-01T12:00:00Z", "2026-05-01T12:00:01Z"
    states = [(State.CURRENT, first), (State.CURRENT, first), (State.IN_PROGRESS, later)]
    answers = iter([*states, (State.CURRENT, "2026-05-01T12:00:02Z")])

    async def handler(_) -> web.StreamResponse:
        state, at = next(answers)
        team = NamespaceStatus(name="team-a", state=state)
        document = msgspec.to_builtins(
            StatusDocument(schema="v1", mode=Mode.WATCHING, namespaces=(team,))
        )
        return a_json_response({**document, "evaluatedAt": at}, ETag=f'"{at}"')

    async with serving(handler) as stub:
        ended = await wait("team-a", "--for=ready", f"--from={stub.url}", "--timeout=10m")
        waited = [request.query.get("wait") for request in stub.requests]
    assert ended.code == 0
    assert "team-a: Progressing" in ended.err
    assert waited == [None, None, None, "30"]


async def test_a_server_that_is_away_is_asked_again_and_in_the_end_named():
    ended = await wait("team-a", "--from=http://127.0.0.1:1", "--timeout=2s")
    assert ended.code == 1
    assert ended.out.startswith("nobody answered within 2s; http://127.0.0.1:1 cannot be read")


async def test_a_reporter_that_is_busy_is_asked_again():
    gone = {"schema": "v1", "state": "NotFound", "error": "no team-a", "remedy": "look"}
    busy = {"schema": "v1", "error": "32 requests wait", "remedy": "Ask later."}
    answers = iter([a_json_response(busy, 429, Retry_After="2"), a_json_response(gone, 404)])

    async def handler(_) -> web.StreamResponse:
        return next(answers)

    async with serving(handler) as stub:
        ended = await wait("team-a", "--for=gone", f"--from={stub.url}", "--timeout=10m")
    assert (ended.code, ended.out) == (0, "team-a is gone\n")
    assert "the reporter is busy" in ended.err


async def test_a_reporter_without_a_pass_in_time_is_named():
    team = NamespaceStatus(name="team-a", state=State.CURRENT, available=True)
    document = msgspec.to_builtins(
        StatusDocument(schema="v1", mode=Mode.WATCHING, namespaces=(team,))
    )

    async def handler(_) -> web.StreamResponse:
        return a_json_response({**document, "evaluatedAt": "2026-05-01T12:00:00Z"})

    async with serving(handler) as stub:
        ended = await wait("team-a", f"--from={stub.url}", "--timeout=2s")
        at_once = await wait("team-a", f"--from={stub.url}", "--timeout=0s")
    assert ended.code == 3
    assert "has finished no pass since it was asked first" in ended.out
    assert (at_once.code, at_once.out) == (0, "team-a is available\n")


async def test_what_asking_again_cannot_change_ends_it_at_once():
    async def older(_) -> web.StreamResponse:
        return web.Response(status=404, text="404: Not Found")

    async with serving(older) as stub:
        ended = await wait("team-a", f"--from={stub.url}", "--timeout=10m")
    assert ended.code == 1
    assert "has no /status/v1" in ended.err


async def test_an_api_server_that_is_away_is_asked_again(server: DevCluster, tmp_path: Path):
    config = str(server.write_kubeconfig(tmp_path / "kubeconfig"))
    await server.stop()
    argv = ("wait", "team-a", "--from=cluster", "--timeout=50s")
    async with running(*argv, KUBECONFIG=config) as waiting:
        await waiting.reports("the API server cannot be asked")
        await server.start()
        ended = await waiting.ended()
    assert (ended.code, ended.out) == (0, "team-a is available\n")
