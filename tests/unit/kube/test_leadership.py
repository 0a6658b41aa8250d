"""Loops that run while a process leads."""

import asyncio
from contextlib import suppress

from reporter.kube.leadership import NoElection, run_whenever_leading


async def test_work_runs_anew_after_each_fault():
    faults: list[Exception] = []
    ends: list[int] = []
    works = asyncio.Event()

    async def work():
        if len(faults) < 2:
            raise ValueError(f"fault {len(faults) + 1}")
        works.set()
        await asyncio.Future()

    loop = asyncio.create_task(
        run_whenever_leading(
            NoElection(),
            work,
            on_fault=faults.append,
            stand_down=lambda: ends.append(len(faults)),
            pause_after_fault=0.0,
        )
    )
    async with asyncio.timeout(60):
        await works.wait()
    assert [str(each) for each in faults] == ["fault 1", "fault 2"]
    assert ends == [1, 2]
    loop.cancel()
    with suppress(asyncio.CancelledError):
        await loop
    assert ends == [1, 2, 2]
