"""
The process: arguments in, exit code out.
"""

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn


INTERRUPTED = 130
"""
What shells report for a process that SIGINT ended.
"""

STOPS = {signal.SIGTERM: 0, signal.SIGINT: INTERRUPTED}
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

    for each in STOPS:
        signal.signal(each, leave)
    _open_what_is_closed()
    try:
        # Only here, so that a stop during these imports is one like any other.
        from reporter.cli.commands import command  # noqa: PLC0415

        # Some libraries let no exception out while they are loaded.
        code = STOPS[asked[0]] if asked else command(sys.argv[1:], os.environ)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = STOPS[asked[0]] if asked else INTERRUPTED
    except BrokenPipeError:
        # Who read us has seen enough, as head does; what is left must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    _forget_unsaid()
    sys.exit(code)


def _open_what_is_closed() -> None:
    """
    Otherwise a socket takes the number of a closed stream, and with it what a library complains of.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115  until the end


def _forget_unsaid() -> None:
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
