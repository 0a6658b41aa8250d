"""Leases and electors against an API server; the same tests run against a real one."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest
import pytest_asyncio
from msgspec.structs import replace

from devcluster.server import DevCluster
from reporter.kube.client import RestClient
from reporter.kube.connect import connect
from reporter.kube.elector import Elector
from reporter.kube.errors import Conflict, NotFound
from reporter.kube.leadership import Leadership, NoElection
from reporter.kube.lease_rules import LeaseRecord, LeaseTiming
from reporter.kube.leases import Lease, LeaseLock
from reporter.process.clock import Clock
from tests.support.ports import free_port
from tests.support.stubs.api_servers import until


LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
FAST_TIMING = LeaseTiming(
    lease_duration=timedelta(seconds=6),
    renew_deadline=timedelta(seconds=4),
    retry_period=timedelta(milliseconds=200),
)
"""Short for a test, and long enough for a renewal on a busy machine."""

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
Result = TypeVar("Result")


@pytest_asyncio.fixture
async def server() -> AsyncIterator[DevCluster]:
    at = free_port()  # which is still free after an outage
    async with DevCluster(port=at) as server:
        yield server


@pytest_asyncio.fixture
async def api(server: DevCluster, tmp_path: Path) -> AsyncIterator[RestClient]:
    api = await connect(str(server.write_kubeconfig(tmp_path / "kubeconfig")), environ={})
    yield api
    await api.close()


@pytest.fixture
def lease_lock(api: RestClient) -> LeaseLock:
    return LeaseLock(api, "default", f"reporter-{secrets.token_hex(4)}")


@asynccontextmanager
async def running(book: LeaseLock, me: str) -> AsyncIterator[Elector]:
    """Run an elector that stops without a release, as a killed process does."""
    elector = Elector(book, FAST_TIMING, identity=me, wall_clock=Clock().now)
    task = asyncio.create_task(elector.run())
    try:
        yield elector
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def bounded(happening: Awaitable[Result]) -> Result:
    async with asyncio.timeout(60):
        return await happening


def a_record(holder: str = "reporter-0", renewed: datetime = NOON) -> LeaseRecord:
    return LeaseRecord(holder, timedelta(seconds=15), acquire_time=NOON, renew_time=renewed)


async def read_lease(book: LeaseLock) -> Lease:
    lease = await book.read()
    assert lease is not None
    return lease


async def renewed_after(book: LeaseLock, moment: datetime) -> LeaseRecord:
    """Return the first record that was renewed later than that."""
    while True:
        record = (await read_lease(book)).record
        if record.renew_time and record.renew_time > moment:
            return record
        await asyncio.sleep(0.1)


# ---------------------------------------------------------------- the book


async def test_a_lease_that_is_not_there_is_none(lease_lock: LeaseLock):
    assert await lease_lock.read() is None


async def test_a_record_is_read_back_as_it_was_written(lease_lock: LeaseLock):
    created = await lease_lock.create(a_record())
    assert created.record == (await read_lease(lease_lock)).record == a_record()
    renewed = a_record(renewed=NOON + timedelta(microseconds=120))
    await lease_lock.update(created, renewed)
    assert (await read_lease(lease_lock)).record == renewed


async def test_a_second_create_conflicts(lease_lock: LeaseLock):
    await lease_lock.create(a_record())
    with pytest.raises(Conflict):
        await lease_lock.create(a_record("reporter-1"))


async def test_an_update_of_what_changed_since_conflicts(lease_lock: LeaseLock):
    lease = await lease_lock.create(a_record())
    await lease_lock.update(lease, a_record("reporter-1"))
    with pytest.raises(Conflict):
        await lease_lock.update(lease, a_record("reporter-2"))
    assert (await read_lease(lease_lock)).record.holder == "reporter-1"


async def test_an_update_of_a_deleted_lease_finds_nothing(api: RestClient, lease_lock: LeaseLock):
    lease = await lease_lock.create(a_record())
    await api.call("DELETE", f"{LEASES}/{str(lease_lock).partition('/')[2]}")
    with pytest.raises((NotFound, Conflict)):
        await lease_lock.update(lease, a_record())


async def test_a_released_lease_has_no_holder(lease_lock: LeaseLock):
    lease = await lease_lock.create(a_record())
    await lease_lock.update(lease, a_record(""))
    assert (await read_lease(lease_lock)).record.holder == ""


async def test_an_update_keeps_what_others_wrote(api: RestClient, lease_lock: LeaseLock):
    name = str(lease_lock).partition("/")[2]
    body = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": name, "labels": {"team": "a"}, "annotations": {"note": "b"}},
    }
    await api.call("POST", LEASES, body=body)
    await lease_lock.update(await read_lease(lease_lock), a_record())
    answer = await api.call("GET", f"{LEASES}/{name}")
    metadata = json.loads(answer.body)["metadata"]
    assert (metadata["labels"], metadata["annotations"]) == ({"team": "a"}, {"note": "b"})


# ---------------------------------------------------------------- electors


async def test_the_first_candidate_leads_and_the_second_stands_by(lease_lock: LeaseLock):
    async with running(lease_lock, "a") as first:
        await bounded(first.wait_acquired())
        async with running(lease_lock, "b") as second:
            await until(lambda: second.holder == "a")
            assert first.holds_lease()
            assert not second.is_leader
        record = (await read_lease(lease_lock)).record
        assert (record.holder, record.duration, record.transitions) == (
            "a",
            FAST_TIMING.lease_duration,
            0,
        )


async def test_of_many_candidates_at_once_one_leads(lease_lock: LeaseLock):
    async with AsyncExitStack() as all_of_them:
        electors = [await all_of_them.enter_async_context(running(lease_lock, c)) for c in "abcde"]
        await until(lambda: any(elector.is_leader for elector in electors))
        await until(lambda: len({elector.holder for elector in electors}) == 1)
        (leader,) = (elector for elector in electors if elector.holds_lease())
        assert leader.holder == (await read_lease(lease_lock)).record.holder


async def test_a_leader_goes_on_renewing(lease_lock: LeaseLock):
    async with running(lease_lock, "a") as elector:
        await bounded(elector.wait_acquired())
        before = (await read_lease(lease_lock)).record
        assert before.renew_time
        ran_out = before.renew_time + FAST_TIMING.lease_duration
        after = await bounded(renewed_after(lease_lock, ran_out))
        assert elector.holds_lease()
        assert (after.acquire_time, after.transitions) == (before.acquire_time, before.transitions)


async def test_a_killed_leader_is_replaced_once_its_lease_ran_out(lease_lock: LeaseLock):
    async with AsyncExitStack() as others:
        async with running(lease_lock, "a") as first:
            await bounded(first.wait_acquired())
            second = await others.enter_async_context(running(lease_lock, "b"))
            await until(lambda: second.holder == "a")
        assert not second.is_leader
        await bounded(second.wait_acquired())
        assert (await read_lease(lease_lock)).record.transitions == 1


async def test_a_leader_that_stops_in_good_order_hands_over_at_once(
    lease_lock: LeaseLock, caplog: pytest.LogCaptureFixture
):
    caplog.set_level("INFO")
    async with AsyncExitStack() as others:
        async with running(lease_lock, "a") as first:
            await bounded(first.wait_acquired())
            second = await others.enter_async_context(running(lease_lock, "b"))
            await until(lambda: second.holder == "a")
        await first.release()
        assert not first.is_leader
        await bounded(second.wait_acquired())
    assert "is released" in caplog.text
    assert "no longer leading: stopping" in caplog.text


async def test_a_candidate_that_never_led_releases_nothing(lease_lock: LeaseLock):
    async with running(lease_lock, "a") as first:
        await bounded(first.wait_acquired())
        async with running(lease_lock, "b") as second:
            await until(lambda: second.holder == "a")
        await second.release()
        assert (await read_lease(lease_lock)).record.holder == "a"


async def test_a_lease_that_client_go_left_is_taken_over_by_its_rules(
    api: RestClient, lease_lock: LeaseLock
):
    await lease_lock.create(
        replace(a_record("other_3f0c"), duration=timedelta(seconds=1), transitions=7)
    )
    async with running(lease_lock, "a") as elector:
        await bounded(elector.wait_acquired())
        record = (await read_lease(lease_lock)).record
        assert (record.holder, record.transitions) == ("a", 8)


# ---------------------------------------------------------------- alone


async def test_a_process_without_election_always_leads():
    alone: Leadership = NoElection()
    await bounded(alone.wait_acquired())
    assert alone.is_leader
    assert alone.holds_lease()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await alone.wait_lost()
