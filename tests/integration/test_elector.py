"""
Leases and electors against an API server; the same tests run against a real one.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from reporter.clock import Clock
from reporter.embedded.server import EmbeddedServer
from reporter.kube.client import Api, connect
from reporter.kube.errors import Conflict, NotFound
from reporter.kube.leases import Lease, LeaseBook
from reporter.model.leases import LeaseRecord
from reporter.runtime.elector import Elector
from reporter.runtime.leadership import Alone, Leadership
from reporter.stages.election import Terms


LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
QUICK = Terms(
    lease=timedelta(seconds=2),
    renew=timedelta(seconds=1),
    retry=timedelta(milliseconds=200),
)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest_asyncio.fixture
async def server() -> AsyncIterator[EmbeddedServer]:
    async with EmbeddedServer() as server:
        yield server


@pytest_asyncio.fixture
async def api(server: EmbeddedServer, tmp_path: Path) -> AsyncIterator[Api]:
    api = await connect(str(server.kubeconfig(tmp_path / "kubeconfig")), environ={})
    yield api
    await api.close()


@pytest.fixture
def book(api: Api) -> LeaseBook:
    return LeaseBook(api, "default", f"reporter-{secrets.token_hex(4)}")


@asynccontextmanager
async def running(book: LeaseBook, me: str) -> AsyncIterator[Elector]:
    """
    An elector that just ends, as a killed process does.
    """
    elector = Elector(book, QUICK, me=me, wall=Clock().now)
    task = asyncio.create_task(elector.run())
    try:
        yield elector
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def within(seconds: float, happening: Awaitable[object]) -> None:
    async with asyncio.timeout(3 * seconds):
        await happening


async def until(condition: Callable[[], bool], *, within: float) -> None:
    async with asyncio.timeout(3 * within):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def a_record(holder: str = "reporter-0", renewed: datetime = NOON) -> LeaseRecord:
    return LeaseRecord(holder, timedelta(seconds=15), acquired=NOON, renewed=renewed)


async def found(book: LeaseBook) -> Lease:
    lease = await book.read()
    assert lease is not None
    return lease


# ---------------------------------------------------------------- the book


async def test_a_lease_that_is_not_there_is_none(book: LeaseBook):
    assert await book.read() is None


async def test_a_record_is_read_back_as_it_was_written(book: LeaseBook):
    created = await book.create(a_record())
    assert created.record == (await found(book)).record == a_record()
    renewed = a_record(renewed=NOON + timedelta(microseconds=120))
    await book.update(created, renewed)
    assert (await found(book)).record == renewed


async def test_a_second_create_conflicts(book: LeaseBook):
    await book.create(a_record())
    with pytest.raises(Conflict):
        await book.create(a_record("reporter-1"))


async def test_an_update_of_what_changed_since_conflicts(book: LeaseBook):
    lease = await book.create(a_record())
    await book.update(lease, a_record("reporter-1"))
    with pytest.raises(Conflict):
        await book.update(lease, a_record("reporter-2"))
    assert (await found(book)).record.holder == "reporter-1"


async def test_an_update_of_a_deleted_lease_finds_nothing(api: Api, book: LeaseBook):
    lease = await book.create(a_record())
    await api.call("DELETE", f"{LEASES}/{str(book).partition('/')[2]}")
    with pytest.raises((NotFound, Conflict)):
        await book.update(lease, a_record())


async def test_a_released_lease_has_no_holder(book: LeaseBook):
    lease = await book.create(a_record())
    await book.update(lease, a_record(""))
    assert (await found(book)).record.holder == ""


async def test_an_update_keeps_what_others_wrote(api: Api, book: LeaseBook):
    name = str(book).partition("/")[2]
    body = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name, "labels": {"team": "a"}, "annotations": {"note": "b"}},
    }
    await api.call("POST", LEASES, body=json.dumps(body).encode())
    await book.update(await found(book), a_record())
    answer = await api.call("GET", f"{LEASES}/{name}")
    metadata = json.loads(answer.body)["metadata"]
    assert (metadata["labels"], metadata["annotations"]) == ({"team": "a"}, {"note": "b"})


# ---------------------------------------------------------------- electors


async def test_the_first_candidate_leads_and_the_second_stands_by(book: LeaseBook):
    async with running(book, "a") as first:
        await within(1, first.acquired())
        async with running(book, "b") as second:
            await until(lambda: second.holder == "a", within=1)
            assert first.holds()
            assert not second.leading
        record = (await found(book)).record
        assert (record.holder, record.duration, record.transitions) == ("a", QUICK.lease, 0)


async def test_of_many_candidates_at_once_one_leads(book: LeaseBook):
    async with AsyncExitStack() as all_of_them:
        electors = [await all_of_them.enter_async_context(running(book, c)) for c in "abcde"]
        await until(lambda: any(elector.leading for elector in electors), within=1)
        await until(lambda: len({elector.holder for elector in electors}) == 1, within=2)
        (leader,) = (elector for elector in electors if elector.holds())
        assert leader.holder == (await found(book)).record.holder


async def test_a_leader_goes_on_renewing(book: LeaseBook):
    async with running(book, "a") as elector:
        await within(1, elector.acquired())
        before = (await found(book)).record
        await asyncio.sleep(1.5 * QUICK.lease.total_seconds())
        after = (await found(book)).record
        assert elector.holds()
        assert (after.acquired, after.transitions) == (before.acquired, before.transitions)
        assert after.renewed
        assert before.renewed
        assert after.renewed > before.renewed


async def test_a_killed_leader_is_replaced_once_its_lease_ran_out(book: LeaseBook):
    async with AsyncExitStack() as others:
        async with running(book, "a") as first:
            await within(1, first.acquired())
            second = await others.enter_async_context(running(book, "b"))
            await until(lambda: second.holder == "a", within=1)
        assert not second.leading
        await within(QUICK.lease.total_seconds() + 1, second.acquired())
        assert (await found(book)).record.transitions == 1


async def test_a_leader_that_stops_in_good_order_hands_over_at_once(
    book: LeaseBook, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO")
    async with AsyncExitStack() as others:
        async with running(book, "a") as first:
            await within(1, first.acquired())
            second = await others.enter_async_context(running(book, "b"))
            await until(lambda: second.holder == "a", within=1)
        await first.release()
        assert not first.leading
        await within(1, second.acquired())
    assert "is released" in caplog.text
    assert "no longer leading: stopping" in caplog.text


async def test_a_candidate_that_never_led_releases_nothing(book: LeaseBook):
    async with running(book, "a") as first:
        await within(1, first.acquired())
        async with running(book, "b") as second:
            await until(lambda: second.holder == "a", within=1)
        await second.release()
        assert (await found(book)).record.holder == "a"


async def test_a_lease_that_client_go_left_is_taken_over_by_its_rules(api: Api, book: LeaseBook):
    await book.create(
        replace(a_record("other_3f0c"), duration=timedelta(seconds=1), transitions=7)
    )
    async with running(book, "a") as elector:
        await within(2, elector.acquired())
        record = (await found(book)).record
        assert (record.holder, record.transitions) == ("a", 8)


# ---------------------------------------------------------------- alone


async def test_a_process_without_election_always_leads():
    alone: Leadership = Alone()
    await within(1, alone.acquired())
    assert alone.leading
    assert alone.holds()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await alone.lost()
