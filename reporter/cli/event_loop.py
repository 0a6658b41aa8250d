"""Run a command that asks for the status in an event loop."""

import asyncio
import logging
import signal
from collections.abc import Coroutine
from typing import Any

from reporter.cli.output import ExitCode, Terminal
from reporter.settings.errors import ConfigurationError
from reporter.status.source import StatusQueryFailed


ENDED_BY_SIGNAL = 128
"""Shells report a process that a signal ended with this number and that of the signal."""


def run_asking(
    command: Coroutine[Any, Any, int], terminal: Terminal, *, stays: bool = False
) -> int:
    """
    Run the coroutine of a command in an event loop, and return its exit code, or that of its error.

    An error is printed. The code of a StatusQueryFailed is NO_ANSWER; that of a ConfigurationError is
    USAGE, as asking again is no use. *stays*: the command runs until a change or a signal, which cancels
    it; the code is then ENDED_BY_SIGNAL and the number of the signal.
    """
    # Warnings of the client are for a process that stays; here they are notes of the answer.
    logging.basicConfig(level=logging.ERROR)
    received: list[signal.Signals] = []
    try:
        return asyncio.run(_run_until_signal(command, received) if stays else command)
    except ConfigurationError as err:
        terminal.error(str(err))
        return ExitCode.USAGE
    except StatusQueryFailed as err:
        terminal.error(str(err))
        return ExitCode.NO_ANSWER
    except asyncio.CancelledError:
        if not received:
            raise
        return ENDED_BY_SIGNAL + received[0]


async def _run_until_signal(
    command: Coroutine[Any, Any, int], received: list[signal.Signals]
) -> int:
    """
    End the tasks of a command in order. KeyboardInterrupt would be raised in any one of them.
    """
    task, loop = asyncio.current_task(), asyncio.get_running_loop()

    def stop(number: signal.Signals) -> None:
        received.append(number)
        if task is not None:
            task.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    return await command
