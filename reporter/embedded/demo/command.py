"""
The command line of the demo.
"""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence

from reporter.embedded.demo.folder import claim_folder
from reporter.embedded.demo.process import ReporterExited
from reporter.embedded.demo.scenario_runner import EventMissing
from reporter.embedded.demo.session import run_session
from reporter.embedded.demo.terminal.screen import Screen
from reporter.settings import SettingsError


EXIT_FAILED = 1
EXIT_TERMINATED = 128 + signal.SIGTERM


def run_demo(arguments: Sequence[str]) -> int:
    """
    Run the demo to its end and return the exit code. Raise KeyboardInterrupt after Ctrl-C.
    """
    if arguments:
        raise SettingsError("", f"unexpected argument {arguments[0]!r}; demo takes none")
    screen = Screen.for_stream(sys.stdout, os.environ)
    try:
        with claim_folder(os.environ) as folder:
            logging.basicConfig(
                filename=folder.demo_log, filemode="w", level=logging.WARNING, force=True
            )
            asyncio.run(run_session(screen, folder))
    except (ReporterExited, EventMissing) as err:
        screen.flush()
        print(f"\nThe demo FAILED: {err}", file=sys.stderr)
        return EXIT_FAILED
    except KeyboardInterrupt:
        screen.verbatim("\nStopped.")
        raise
    except asyncio.CancelledError:
        return EXIT_TERMINATED
    return 0
