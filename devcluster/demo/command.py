"""The command line of the demo."""

import asyncio
import logging
import signal
import sys
from collections.abc import Mapping

from devcluster.demo.folder import claim_folder
from devcluster.demo.process import ReporterExited
from devcluster.demo.scenario_runner import EventMissing
from devcluster.demo.session import run_session
from devcluster.demo.terminal.screen import Screen


EXIT_FAILED = 1
EXIT_TERMINATED = 128 + signal.SIGTERM


def run_demo(environ: Mapping[str, str]) -> int:
    """Run the demo to its end and return the exit code. Raise KeyboardInterrupt after Ctrl-C."""
    screen = Screen.for_stream(sys.stdout, environ)
    try:
        with claim_folder(environ) as folder:
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
