"""
The process: arguments in, exit code out.
"""

import os
import sys

from reporter.cli.commands import command


INTERRUPTED = 130
"""
What shells report for a process that SIGINT ended.
"""


def main() -> None:
    try:
        code = command(sys.argv[1:], os.environ)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # Who read us has seen enough, as head does; what is left must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


if __name__ == "__main__":
    main()
