"""Print the first answer to a question, and with ``--watch`` each change until a signal."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Protocol, TypeVar

from reporter.cli.arguments.parser import Arguments
from reporter.cli.asking.terminal import Terminal
from reporter.runtime.status.source import CannotAsk


ASK_INTERVAL = timedelta(seconds=1)
"""The pause between two questions, of which the second one waits for a change."""

A = TypeVar("A")
A_contra = TypeVar("A_contra", contravariant=True)


class AnswerPrinter(Protocol[A_contra]):
    def print(self, answer: A_contra, /) -> None: ...


async def show_answers(
    ask: Callable[[A | None], Awaitable[A]],
    printer: AnswerPrinter[A],
    arguments: Arguments,
    terminal: Terminal,
) -> A:
    """
    Return the first answer, which is printed. Raises CannotAsk.

    *ask*: with an earlier answer, it waits for another one.
    """
    answer = await ask(None)
    try:
        printer.print(answer)
    except BrokenPipeError:
        # With --exit-code the code is the answer, whoever reads the lines.
        if not arguments.is_set("exit-code"):
            raise
    if arguments.is_set("watch"):
        await _watch(ask, printer, terminal, answer)
    return answer


async def _watch(
    ask: Callable[[A | None], Awaitable[A]],
    printer: AnswerPrinter[A],
    terminal: Terminal,
    answer: A,
) -> None:
    pause, last_error = ASK_INTERVAL, ""
    while True:
        await asyncio.sleep(pause.total_seconds())
        pause, error = ASK_INTERVAL, ""
        try:
            answer = await ask(answer)
        except CannotAsk as err:
            if not err.may_pass:
                raise
            pause, error = err.retry_after or ASK_INTERVAL, str(err)
            if error != last_error:
                terminal.error(error)
        else:
            printer.print(answer)
        last_error = error
