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
    """
    # Warnings of the client are for a process that stays; here an error ends the command.
    logging.basicConfig(level=logging.ERROR)
    try:
        return asyncio.run(command)
    except (CannotAsk, ConfigurationError) as err:
        terminal.error(str(err))
        return ExitCode.NOT_ASKED
