"""
The process: arguments in, exit code out.
"""

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn


INTERRUPTED_EXIT_CODE = 130
"""
What shells report for a process that SIGINT ended.
"""

STOP_EXIT_CODES = {signal.SIGTERM: 0, signal.SIGINT: INTERRUPTED_EXIT_CODE}
"""
The exit codes of a stop.
"""


def main() -> None:
    asked: list[signal.Signals] = []

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        """
        Before anything has begun there is nothing to end; later the loop's own handlers stand here.
        """
        asked.append(signal.Signals(number))
        raise KeyboardInterrupt

    for each in STOP_EXIT_CODES:
        signal.signal(each, leave)
    _reopen_closed_streams()
    try:
        # Only here, so that a stop during these imports is one like any other.
        from reporter.cli.commands import run_command  # noqa: PLC0415

        # Some libraries let no exception out while they are loaded.
        code = STOP_EXIT_CODES[asked[0]] if asked else run_command(sys.argv[1:], os.environ)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = STOP_EXIT_CODES[asked[0]] if asked else INTERRUPTED_EXIT_CODE
    except BrokenPipeError:
        # Who read us has seen enough, as head does; what is left must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    _discard_unflushed()
    sys.exit(code)


def _reopen_closed_streams() -> None:
    """
    Otherwise a socket takes the number of a closed stream, and with it what a library complains of.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115  until the end


def _discard_unflushed() -> None:
    """
    What a full disk or a closed pipe did not take must not change the exit code to 120.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()
