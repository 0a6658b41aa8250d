"""The loop that writes for a leader, with a plan of a few keys and a clock by hand."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import pytest

from reporter.kube.errors import KubeError, Refused, Throttled, Unreachable
from reporter.kube.leader_writer import AfterTry, Attempt, DueWrites, LeaderWriter, WritePlan
from reporter.kube.write_limits import WriteRate
from tests.integration.announcing.publisher_fixture import ManualClock, ManualLeadership


class ListPlan(WritePlan[str, str, str]):
    """
    The keys of a list. *texts*: what a key is rendered to. *log*: what became of each, in order.
    """

    operation, rate, fault = "write", WriteRate(100.0, 100.0, in_flight=2), "nothing is written"

    def __init__(self) -> None:
        self.due: dict[str, timedelta] = {}
        self.texts: dict[str, str] = {}
        self.log: list[str] = []
        self.errors: list[KubeError] = []
        self.is_broken = False
        self.wake: Callable[[], None] = lambda: None

    def subscribe(self, on_change: Callable[[], None]) -> None:
        self.wake = on_change

    def show(self, *keys: str) -> None:
        self.due = dict.fromkeys(keys, timedelta(0))
        self.wake()

    async def prepare(self) -> None:
        self.log.append("prepared")

    async def find_due(self, *, now: datetime) -> DueWrites[str]:
        if self.is_broken:
            raise LookupError("broken")
        return DueWrites({key: now + after for key, after in self.due.items()})

    def render(self, key: str, *, now: datetime) -> str | AfterTry:
        if key not in self.due:
            return AfterTry.DONE
        return self.texts.get(key, key)

    def written(self, attempt: Attempt[str, str], result: str) -> AfterTry:
        self.log.append(f"{result} after {attempt.failures}")
        self.due.pop(attempt.key, None)
        return AfterTry.DONE

    def failed(self, attempt: Attempt[str, str], err: KubeError) -> AfterTry:
        self.log.append(f"{attempt.key} failed")
        self.errors.append(err)
        return AfterTry.RETRY

    def on_fault(self) -> None:
        self.log.append("fault")

    def stand_down(self) -> None:
        self.log.append("stood down")


class Sink:
    """Takes what is written. *errors*: raised instead, by text. *held*: what hangs until it is set."""

    def __init__(self) -> None:
        self.errors: dict[str, list[KubeError]] = {}
        self.held: dict[str, asyncio.Event] = {}
        self.started: list[str] = []

    async def write(self, text: str) -> str:
        self.started.append(text)
        if text in self.held:
            await self.held[text].wait()
        errors = self.errors.get(text)
        if errors:
            raise errors.pop(0)
        return text


class WriterFixture:
    def __init__(self) -> None:
        self.plan, self.sink = ListPlan(), Sink()
        self.clock, self.leadership = ManualClock(), ManualLeadership()
        self.writer = LeaderWriter(
            self.plan,
            self.sink.write,
            self.leadership,
            self.clock,
            jitter=lambda: 0.0,
            pause_after_fault=0.0,
        )

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.plan.wake()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(60):
            while not condition():  # noqa: ASYNC110  a condition of values
                await asyncio.sleep(0)

    async def until_logged(self, *log: str) -> None:
        await self.until(lambda: self.plan.log == ["prepared", *log])

    async def rest(self) -> None:
        """Give the loop as many turns as it could use."""
        for _ in range(50):
            await asyncio.sleep(0)


@asynccontextmanager
async def running_writer() -> AsyncIterator[WriterFixture]:
    fixture = WriterFixture()
    task = asyncio.create_task(fixture.writer.run())
    yield fixture
    assert not task.done()
    task.cancel()
    await asyncio.wait([task])


async def test_writes_start_in_their_order_and_as_many_as_the_plan_allows():
    async with running_writer() as fixture:
        fixture.sink.held = {"b": asyncio.Event(), "c": asyncio.Event()}
        fixture.plan.show("b", "c", "a")
        await fixture.rest()
        assert fixture.sink.started == ["b", "c"]
        fixture.sink.held["c"].set()
        await fixture.until_logged("c after 0", "a after 0")


async def test_what_is_sent_is_rendered_at_the_moment_of_sending():
    async with running_writer() as fixture:
        fixture.sink.errors["old"] = [Unreachable("write old")]
        fixture.plan.texts["a"] = "old"
        fixture.plan.show("a")
        await fixture.until_logged("a failed")
        fixture.plan.texts["a"] = "new"
        fixture.advance(1)
        await fixture.until_logged("a failed", "new after 1")


async def test_what_is_not_due_any_more_is_not_sent():
    async with running_writer() as fixture:
        fixture.sink.errors["a"] = [Unreachable("write a")]
        fixture.plan.show("a")
        await fixture.until_logged("a failed")
        fixture.plan.show()
        fixture.advance(60)
        await fixture.rest()
        assert fixture.sink.started == ["a"]


async def test_a_refusal_stops_no_other_write():
    async with running_writer() as fixture:
        fixture.sink.errors["a"] = [Refused("write a", status=403)]
        fixture.plan.show("a", "b")
        await fixture.until_logged("a failed", "b after 0")


async def test_retry_after_is_honoured():
    async with running_writer() as fixture:
        pause = timedelta(seconds=7)
        fixture.sink.errors["a"] = [Throttled("write a", status=429, retry_after=pause)]
        fixture.plan.show("a")
        await fixture.until_logged("a failed")
        fixture.advance(6.9)
        await fixture.rest()
        assert fixture.sink.started == ["a"]
        fixture.advance(0.2)
        await fixture.until_logged("a failed", "a after 1")


async def test_nothing_is_sent_while_the_lease_is_not_valid_and_the_loop_does_not_spin():
    async with running_writer() as fixture:
        await fixture.rest()
        fixture.leadership.firm = lambda: False
        checks = fixture.leadership.checks
        fixture.plan.show("a")
        await fixture.rest()
        assert (fixture.sink.started, fixture.leadership.checks) == ([], checks + 1)
        fixture.leadership.firm = lambda: True
        fixture.plan.wake()
        await fixture.until_logged("a after 0")


async def test_a_lease_that_ends_just_before_the_request_sends_nothing():
    async with running_writer() as fixture:
        await fixture.rest()
        checks = fixture.leadership.checks
        fixture.leadership.firm = lambda: fixture.leadership.checks == checks + 1
        fixture.plan.show("a")
        await fixture.rest()
        assert fixture.leadership.checks > checks + 1
        assert fixture.sink.started == []


async def test_leadership_that_is_lost_in_the_middle_ends_the_write_and_its_back_offs():
    async with running_writer() as fixture:
        fixture.sink.errors["a"] = [Unreachable("write a")]
        fixture.sink.held = {"b": asyncio.Event()}
        fixture.plan.show("a", "b")
        await fixture.until_logged("a failed")
        fixture.leadership.release()
        await fixture.until_logged("a failed", "stood down")
        fixture.sink.held.clear()
        fixture.plan.wake()
        await fixture.rest()
        assert fixture.sink.started == ["a", "b"]
        fixture.leadership.acquire()
        await fixture.until_logged("a failed", "stood down", "prepared", "a after 0", "b after 0")


async def test_a_write_ends_with_the_lease_and_may_have_been_carried_out():
    async with running_writer() as fixture:
        fixture.sink.held = {"a": asyncio.Event()}
        fixture.leadership.until = asyncio.get_running_loop().time() + 0.05
        fixture.plan.show("a")
        await fixture.until_logged("a failed")
        (err,) = fixture.plan.errors
        assert str(err) == "write a: the lease ended during the write"
        assert isinstance(err, Unreachable)
        assert err.may_have_applied


async def test_a_fault_is_logged_once_and_the_loop_goes_on(caplog: pytest.LogCaptureFixture):
    async with running_writer() as fixture:
        fixture.plan.is_broken = True
        fixture.plan.show("a")
        await fixture.until(lambda: fixture.plan.log.count("fault") >= 2)
        assert fixture.writer.is_faulty
        fixture.plan.is_broken = False
        await fixture.until(lambda: fixture.plan.log[-1] == "a after 0")
        assert not fixture.writer.is_faulty
        assert [each.getMessage() for each in caplog.records] == ["nothing is written"]
        caplog.clear()


async def test_without_a_text_for_it_a_fault_ends_the_loop():
    fixture = WriterFixture()
    fixture.plan.fault, fixture.plan.is_broken = "", True
    with pytest.raises(ExceptionGroup, match="unhandled") as caught:
        await fixture.writer.run()
    assert caught.group_contains(LookupError)
    assert fixture.plan.log == ["prepared", "stood down"]
