"""
The command: arguments in, exit code out.
"""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence

from reporter.demo.folder import claimed
from reporter.demo.process import ReporterEnded
from reporter.demo.screen import Screen
from reporter.demo.show import show
from reporter.demo.story import Unsaid
from reporter.settings import SettingsError


HELP = """\
Show the reporter at work on an example stack, with no cluster at hand.

Usage:
  productionstack-status-reporter demo

Starts a small Kubernetes API server with a healthy production stack on
127.0.0.1 and the reporter against it, breaks and mends things, and prints the
Events that the reporter writes. It names a kubeconfig, too, so that your own
kubectl can look at all of it, and break more.

On a terminal it stays until Ctrl-C, otherwise it ends with the story.
NO_COLOR switches colours off; its files are under XDG_CACHE_HOME or ~/.cache.

Exit codes: 0 all was said as expected, 1 it was not, 130 after Ctrl-C."""

FAILED = 1
TERMINATED = 128 + signal.SIGTERM


def run(arguments: Sequence[str]) -> int:
    """
    Until the story ends, on a terminal until Ctrl-C, which raises KeyboardInterrupt.
    """
    if {"-h", "-help", "--help", "help"} & set(arguments):
        print(HELP)
        return 0
    if arguments:
        raise SettingsError("", f"unexpected argument {arguments[0]!r}; demo takes none")
    screen = Screen.on(sys.stdout, os.environ)
    try:
        with claimed(os.environ) as folder:
            logging.basicConfig(
                filename=folder.own_log, filemode="w", level=logging.WARNING, force=True
            )
            asyncio.run(show(screen, folder))
    except (ReporterEnded, Unsaid) as err:
        screen.flush()
        print(f"\nThe demo FAILED: {err}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        screen.verbatim("\nStopped.")
        raise
    except asyncio.CancelledError:
        return TERMINATED
    return 0
