"""Run a process that stays until a signal stops it, and turn its end into an exit code."""

import asyncio
import logging
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from reporter import PROGRAM_NAME
from reporter.runtime.process import loop_lag
from reporter.runtime.process.open_files import raise_open_files_limit
from reporter.settings import Settings
from reporter.settings.errors import ConfigurationError
from reporter.sinks.log_format import configure_logging, one_line


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
