"""The most important benchmark: the time from a change to its readable Event."""

import sys

from e2e.bench.reaction import main


if __name__ == "__main__":
    sys.exit(main())
