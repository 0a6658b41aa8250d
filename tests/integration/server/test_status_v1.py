"""``/status/v1`` over real sockets."""

import asyncio
from contextlib import asynccontextmanager

import aiohttp
import msgspec
import pytest
from msgspec.structs import replace

from reporter.model.states import State
from reporter.model.status_document import StatusDocument, StatusError
from reporter.rollup.document import StatusView
from reporter.server.served_document import MAX_WAITING, REPORTER_DOCUMENT, StatusV1
from tests.integration.page.documents import every_state, healthy, many
from tests.integration.server.served_pages import ALWAYS_OK, serving
from tests.support.rollups import BAD_IMAGE, model_outage, stack_after
from tests.support.status_schema import require_schema


class Kept:
    """A roll-up that tests replace."""

    def __init__(self, replay) -> None:
        self.replay, self.changed, self.waiting = replay, asyncio.Event(), 0

    def view(self) -> StatusView:
        return StatusView(self.replay.rollup, self.replay.rollup_rules, now=self.replay.now)

    async def next_change(self) -> None:
        self.waiting += 1
        await self.changed.wait()

    def change(self, replay) -> None:
        replay.rollup = replace(replay.rollup, revision=self.replay.rollup.revision + 1)
        self.replay = replay
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()


class Client:
    def __init__(self, base: str, session: aiohttp.ClientSession) -> None:
        self._base, self._session = base, session

    async def get(self, path: str, method: str = "GET", **how):
        """Return status, headers and body."""
        url = f"{self._base}{path}"
        async with self._session.request(method, url, **how) as response:
            return response.status, response.headers, await response.read()

    async def document(self, path: str) -> StatusDocument:
        status, headers, body = await self.get(path)
        assert (status, headers["Content-Type"]) == (200, "application/json; charset=utf-8")
        require_schema(msgspec.json.decode(body))
        return msgspec.json.decode(body, type=StatusDocument)

    async def refusal(self, path: str, **how) -> tuple[int, StatusError]:
        status, _, body = await self.get(path, **how)
        return status, msgspec.json.decode(body, type=StatusError)


@asynccontextmanager
async def client_of(kept: Kept):
    pages = replace(
        ALWAYS_OK,
        status_v1=StatusV1(REPORTER_DOCUMENT, kept.view, kept.next_change, process="abc").routes(),
    )
    async with serving(pages) as served, aiohttp.ClientSession() as session:
        yield Client(f"http://{served.health}", session)


async def test_the_whole_status_is_what_the_view_says():
    kept = Kept(model_outage())
    async with client_of(kept) as client:
        document = await client.document("/status/v1")
    view = kept.view()
    assert document == view.document(*view.namespaces(), cluster=view.cluster())
    assert [each.name for each in document.namespaces] == ["team-a", "team-m"]
    assert document.schema == "v1"


async def test_one_namespace_and_one_inference_set():
    async with client_of(Kept(model_outage())) as client:
        (namespace,) = (await client.document("/status/v1/namespaces/team-m")).namespaces
        assert [each.name for each in namespace.inference_sets] == ["qwen"]
        document = await client.document("/status/v1/namespaces/team-m/qwen")
        (found,) = document.namespaces[0].inference_sets
        assert found.state is State.FAILED
        assert document.cluster is None


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/status/v1/namespaces/team-x", "no workload namespace team-x"),
        ("/status/v1/namespaces/team-m/phi", "no InferenceSet team-m/phi"),
    ],
)
async def test_what_is_not_there_is_404_with_what_to_do(path, error):
    async with client_of(Kept(stack_after())) as client:
        status, refusal = await client.refusal(path)
    assert (status, refusal.error, refusal.state) == (404, error, State.NOT_FOUND)
    assert "GET /status/v1" in refusal.remedy


async def test_what_may_be_there_is_unknown_and_not_404():
    async with client_of(Kept(stack_after(watch={"namespaces": "lost"}, until="2m"))) as client:
        (namespace,) = (await client.document("/status/v1/namespaces/team-x")).namespaces
        assert namespace.state is State.UNKNOWN


@pytest.mark.parametrize(
    ("query", "allowed"),
    [
        ("state=Broken", "Current, InProgress, Unknown, Failed, Terminating"),
        ("state=Failed,", "Current, InProgress, Unknown, Failed, Terminating"),
        ("state=NotFound", "Current, InProgress, Unknown, Failed, Terminating"),
        ("wait=31", "0 to 30"),
        ("wait=-1", "0 to 30"),
        ("wait=1.5", "0 to 30"),
        ("wait=", "0 to 30"),
        ("wait=٣", "0 to 30"),
        ("wait=00000000000000001", "0 to 30"),
    ],
)
async def test_a_wrong_query_is_400_with_the_allowed_values(query, allowed):
    async with client_of(Kept(stack_after())) as client:
        status, refusal = await client.refusal(f"/status/v1?{query}")
    assert status == 400
    assert allowed in refusal.remedy


@pytest.mark.parametrize(
    ("states", "sets"),
    [
        ("Failed", ["qwen"]),
        ("failed,unknown", ["qwen"]),
        ("Unknown", []),
    ],
)
async def test_only_the_states_that_were_asked_for_are_shown(states, sets):
    async with client_of(Kept(model_outage())) as client:
        document = await client.document(f"/status/v1?state={states}")
    assert [s.name for n in document.namespaces for s in n.inference_sets] == sets


async def test_an_answer_that_is_known_is_304_until_it_changes():
    kept = Kept(stack_after())
    async with client_of(kept) as client:
        _, headers, _ = await client.get("/status/v1")
        known = {"If-None-Match": headers["ETag"]}
        assert headers["ETag"].startswith('W/"abc-')
        status, again, body = await client.get("/status/v1", headers=known)
        assert (status, again["ETag"], body) == (304, headers["ETag"], b"")
        kept.change(model_outage())
        assert (await client.get("/status/v1", headers=known))[0] == 200


async def test_a_change_ends_the_wait():
    kept = Kept(stack_after())
    async with client_of(kept) as client, asyncio.TaskGroup() as group:
        _, headers, _ = await client.get("/status/v1")
        known = {"If-None-Match": headers["ETag"]}
        waiting = group.create_task(client.get("/status/v1?wait=30", headers=known))
        await asyncio.sleep(0.2)
        assert not waiting.done()
        kept.change(model_outage())
        status, _, body = await waiting
    assert status == 200
    assert msgspec.json.decode(body, type=StatusDocument).namespaces[1].state is State.FAILED


async def test_without_a_change_the_wait_ends_with_304():
    async with client_of(Kept(stack_after())) as client:
        _, headers, _ = await client.get("/status/v1")
        known = {"If-None-Match": headers["ETag"]}
        assert (await client.get("/status/v1?wait=1", headers=known))[0] == 304


async def test_who_knows_nothing_does_not_wait():
    async with client_of(Kept(stack_after())) as client:
        assert (await client.get("/status/v1?wait=30"))[0] == 200


async def test_one_that_waits_too_many_is_429_and_the_rest_is_served():
    kept = Kept(stack_after())
    async with client_of(kept) as client, asyncio.TaskGroup() as group:
        _, headers, _ = await client.get("/status/v1")
        known = {"If-None-Match": headers["ETag"]}
        waiting = [
            group.create_task(client.get("/status/v1?wait=30", headers=known))
            for _ in range(MAX_WAITING)
        ]
        while kept.waiting < MAX_WAITING:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        status, headers, body = await client.get("/status/v1?wait=30", headers=known)
        assert (status, headers["Retry-After"]) == (429, "5")
        assert msgspec.json.decode(body, type=StatusError).remedy
        assert (await client.get("/status/v1"))[0] == 200
        kept.change(model_outage())
        assert {(await each)[0] for each in waiting} == {200}


async def test_a_head_has_no_body():
    async with client_of(Kept(stack_after())) as client:
        status, headers, body = await client.get("/status/v1", "HEAD")
    assert (status, body) == (200, b"")
    assert headers["ETag"]


async def test_hostile_text_stays_text():
    pod = {**BAD_IMAGE["Pod team-m/qwen-7rk2p-0"], "message": '<script>"\\\u2028</script>'}
    kept = Kept(stack_after({"Pod team-m/qwen-7rk2p-0": pod}))
    async with client_of(kept) as client:
        document = await client.document("/status/v1/namespaces/team-m/qwen")
    assert "<script>" in document.namespaces[0].inference_sets[0].blocking.message


@pytest.mark.parametrize(
    "document", [healthy(), every_state(), many(2, 3)], ids=["healthy", "every state", "many"]
)
def test_the_documents_of_the_tests_of_the_page_are_as_published(document: StatusDocument):
    require_schema(msgspec.json.decode(msgspec.json.encode(document)))
