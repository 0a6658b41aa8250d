"""
A plugin that prints the processor time of each folder, with all processes that its tests started.

``PYTEST_ADDOPTS="-p tests.support.processor_time" make test``. A server counts where it is when it works;
what it does between the end of a test and that of the next counts there.
"""

import os
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pytest


COLLECTION = "(collection)"
OUTPUT = "processor_time"
TICKS = os.sysconf("SC_CLK_TCK")

Spent = tuple[float, float]
"""Seconds of this process, and of all that it started."""

_by_folder: defaultdict[str, Counter[str]] = defaultdict(Counter)
_last: list[Spent] = [(0.0, 0.0)]


@pytest.hookimpl
def pytest_collection_finish() -> None:
    _count(COLLECTION)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    result = yield
    _count(str(PurePosixPath(item.nodeid.partition("::")[0]).parent))
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand what a process of pytest-xdist has counted to the one that prints it."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[OUTPUT] = {folder: dict(each) for folder, each in _by_folder.items()}


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    for folder, counted in getattr(node, "workeroutput", {}).get(OUTPUT, {}).items():
        _by_folder[folder].update(counted)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    total = sum((each for each in _by_folder.values()), Counter[str]())
    terminalreporter.section("processor time: all, of the tests themselves")
    ordered = sorted(_by_folder.items(), key=lambda each: -_all(each[1]))
    for folder, each in [*ordered, ("total", total)]:
        terminalreporter.write_line(f"{_all(each):8.1f} s {each['tests']:8.1f} s  {folder}")


def _all(counted: Mapping[str, float]) -> float:
    return counted["tests"] + counted["started"]


def _count(folder: str) -> None:
    now = _spent()
    _by_folder[folder].update({"tests": now[0] - _last[0][0], "started": now[1] - _last[0][1]})
    _last[0] = now


def _spent() -> Spent:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time(), ended.ru_utime + ended.ru_stime + sum(_running())


def _running() -> Iterator[float]:
    """Yield the seconds of each running descendant, with those of its own children that have ended."""
    children, seconds = defaultdict[int, list[int]](list), dict[int, float]()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children[int(fields[1])].append(int(entry.name))
        seconds[int(entry.name)] = sum(map(int, fields[11:15])) / TICKS
    found = [os.getpid()]
    while found:
        below = children[found.pop()]
        found += below
        yield from (seconds[each] for each in below)
