"""The end of tasks that their owner stops."""

import asyncio

from reporter.process.cancellation import stop_all


async def test_all_tasks_have_ended_when_they_are_stopped():
    tasks = [asyncio.create_task(asyncio.sleep(3600)) for _ in range(2)]
    await stop_all(*tasks)
    assert all(each.cancelled() for each in tasks)


async def test_an_owner_of_no_task_may_stop_all_of_them():
    await stop_all()
    assert not asyncio.current_task().cancelling()
