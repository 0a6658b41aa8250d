"""The stop signal, and when it was received."""

import asyncio
from math import inf


class StopSignal:
    """*received_at*: in seconds of the event loop; infinite until then."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.received_at = inf

    def receive(self) -> None:
        if not self._event.is_set():
            self.received_at = asyncio.get_running_loop().time()
            self._event.set()

    async def wait(self) -> None:
        await self._event.wait()
