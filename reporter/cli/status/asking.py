"""
Run a command that asks for the status.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from reporter.cli.status.exit_codes import ExitCode
from reporter.cli.status.terminal import Terminal
from reporter.kube.wire.errors import ConfigurationError
from reporter.runtime.status.source import CannotAsk


def run_asking(command: Coroutine[Any, Any, int], terminal: Terminal) -> int:
    """
    Run it, and print why there was no answer.

    What has to be corrected before anything can be asked ends as a refused command line does: asking
    again is no use.
    """
    # Warnings of the client are for a process that stays; here they are notes of the answer.
    logging.basicConfig(level=logging.ERROR)
    try:
        return asyncio.run(command)
    except ConfigurationError as err:
        terminal.error(str(err))
        return ExitCode.USAGE
    except CannotAsk as err:
        terminal.error(str(err))
        return ExitCode.NOT_ASKED
