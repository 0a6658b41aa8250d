"""
The program in a world that is not as it should be: started in place of ``python -m reporter.cli``.

SHIFT_FILE names a file with the seconds by which the wall clock is wrong, read at each look at it.
PRETENDED_VERSION is the one that the program takes itself to have.
"""

import os
import time
from pathlib import Path

import reporter


CLOCK_SHIFT_FILE = "SHIFT_FILE"
PRETENDED_VERSION = "PRETENDED_VERSION"

_time = time.time


def _shifted_time() -> float:
    return _time() + float(Path(os.environ[CLOCK_SHIFT_FILE]).read_text())


if CLOCK_SHIFT_FILE in os.environ:
    time.time = _shifted_time
if PRETENDED_VERSION in os.environ:
    reporter.PROGRAM_VERSION = os.environ[PRETENDED_VERSION]


if __name__ == "__main__":
    # Only now, so that the program finds nothing but the changed world.
    from reporter.cli.__main__ import main

    main()
