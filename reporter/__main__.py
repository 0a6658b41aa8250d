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
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
