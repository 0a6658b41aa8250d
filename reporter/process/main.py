"""Run a process that stays until a signal stops it, and turn its end into an exit code."""

import asyncio
import logging
import resource
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from reporter import PROGRAM_NAME
from reporter.process import loop_lag
from reporter.process.log_format import configure_logging, one_line
from reporter.settings import Settings
from reporter.settings.errors import ConfigurationError


# --------------------------------------------------------------------
# The limit of open files. Without a free file the kernel accepts no connection, not even a probe's.


WANTED_FILES = 4096
"""
More than are ever open at once. A higher limit would be inherited by programs that an exec plugin
starts, and old ones cannot work with very high numbers (select(2)).
"""


def raise_open_files_limit() -> None:
    """Raise the soft limit towards the hard one, which a process may always do (setrlimit(2))."""
    soft, hard = _limits()
    if soft < min(WANTED_FILES, hard):
        _, hard_as_given = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(WANTED_FILES, hard), hard_as_given))


def open_files_limit() -> int:
    """Return how many files may be open at once: the soft limit, and WANTED_FILES at most."""
    return min(_limits()[0], WANTED_FILES)


def _limits() -> tuple[int, int]:
    """Return the soft and the hard limit, with a number for an infinite one."""
    soft, hard = (
        WANTED_FILES if each == resource.RLIM_INFINITY else each
        for each in resource.getrlimit(resource.RLIMIT_NOFILE)
    )
    return soft, hard


logger = logging.getLogger("reporter")


def run_process(
    settings: Settings, main: Callable[[loop_lag.LagSelector], Coroutine[Any, Any, None]]
) -> int:
    """
    Run *main* until stopped; returns the exit code.

    0 after a stop, 1 after a failure, 2 for a configuration that cannot work.
    """
    configure_logging(settings.log_format, settings.log_level)
    raise_open_files_limit()
    try:
        loop_lag.run_measured(main)
    except asyncio.CancelledError:
        logger.info("stopped before the first connection to the API server")
    except ConfigurationError as err:
        print(f"{PROGRAM_NAME}: {one_line(str(err))}", file=sys.stderr)  # noqa: T201
        return 2
    except Exception:
        logger.critical("stopping after a failure", exc_info=True)
        return 1
    return 0
