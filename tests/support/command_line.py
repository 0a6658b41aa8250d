"""
The program's command line, run in the process of the test.

Only a real process shows signals, a terminal, closed pipes, the installed programs, what is imported
and how the interpreter ends. Tests of these start one.
"""

import asyncio
import io
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from subprocess import CompletedProcess

from reporter.cli.command_line import run_command


Command = Callable[[Sequence[str], Mapping[str, str]], int]

OURS = ("STATUS_REPORTER_", "POD_", "JOB_", "DEPLOYMENT_NAME", "KUBE")
"""The beginnings of the variables that the program reads."""

_one_at_a_time = threading.Lock()


def environment(**given: str) -> dict[str, str]:
    """
    Return the variables of this process without those that the program reads, and those given.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return {**clean, **given}


def run_command_line(
    *argv: str, stdin: bytes = b"", run: Command = run_command, **environ: str
) -> CompletedProcess[str]:
    """
    Return how a command ends and what it writes; nothing of it stays.

    Standard input is no terminal. A failure that a user would see as a traceback is raised.
    """
    out, err = _stream(), _stream()
    with (
        _one_at_a_time,
        _variables(environment(**environ)),
        _unconfigured_logging(),
        _kept_signal_handlers(),
        _standard_input(stdin),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = run(argv, os.environ)
    return CompletedProcess(argv, code, _written(out), _written(err))


async def run_command_line_beside(
    *argv: str, stdin: bytes = b"", run: Command = run_command, **environ: str
) -> CompletedProcess[str]:
    """
    Run it in a thread, while the loop of the test serves what it asks.

    Signals reach the main thread alone: a command that stays until one comes needs a process.
    """
    return await asyncio.to_thread(run_command_line, *argv, stdin=stdin, run=run, **environ)


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="", write_through=True)


def _written(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


@contextmanager
def _variables(environ: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    _set_variables(environ)
    try:
        yield
    finally:
        _set_variables(before)


def _set_variables(environ: dict[str, str]) -> None:
    for name in os.environ.keys() - environ.keys():
        del os.environ[name]
    os.environ.update(environ)


@contextmanager
def _standard_input(content: bytes) -> Iterator[None]:
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(content), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = before


@contextmanager
def _unconfigured_logging() -> Iterator[None]:
    """Let a command configure logging as in a new process: it does so once."""
    root = logging.getLogger()
    levels = {each: each.level for each in _loggers()}
    handlers, root.handlers = root.handlers, []
    root.setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.handlers = handlers
        for each in _loggers():
            each.setLevel(levels.get(each, logging.NOTSET))


def _loggers() -> list[logging.Logger]:
    root = logging.getLogger()
    known = root.manager.loggerDict.values()
    return [root, *(each for each in known if isinstance(each, logging.Logger))]


@contextmanager
def _kept_signal_handlers() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
