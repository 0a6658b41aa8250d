"""
The command line of the demo.
"""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence

from reporter import PROGRAM_NAME
from reporter.embedded.demo.folder import claim_folder
from reporter.embedded.demo.process import ReporterExited
from reporter.embedded.demo.scenario_runner import EventMissing
from reporter.embedded.demo.session import run_session
from reporter.embedded.demo.terminal.screen import Screen
from reporter.settings import SettingsError


HELP = f"""\
Show the reporter at work on an example stack, with no cluster at hand.

Usage:
  {PROGRAM_NAME} demo

Starts a small Kubernetes API server with a healthy production stack on
127.0.0.1 and runs the reporter against it. Then it breaks and repairs parts of
the stack and prints the Events that the reporter writes. It also prints the
path of a kubeconfig, so that you can inspect and break more with your kubectl.

On a terminal it runs until Ctrl-C, otherwise it ends after the last scenario.
NO_COLOR switches colours off. Files are under XDG_CACHE_HOME or ~/.cache.

Exit codes: 0 all expected Events came, 1 one was missing or the reporter ended,
130 after Ctrl-C."""

EXIT_FAILED = 1
EXIT_TERMINATED = 128 + signal.SIGTERM


def run_demo(arguments: Sequence[str]) -> int:
    """
    Run the demo to its end and return the exit code. Raise KeyboardInterrupt after Ctrl-C.
    """
    if {"-h", "-help", "--help", "help"} & set(arguments):
        print(HELP)
        return 0
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
