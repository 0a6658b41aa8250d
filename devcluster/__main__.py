"""
Show the reporter at work on an example stack, with no cluster at hand.

Starts an API server in memory with a healthy production stack on 127.0.0.1, and runs the reporter
against it. Then it breaks and repairs parts of the stack and prints the Events that the reporter writes.
It also prints the path of a kubeconfig, so that you can inspect and break more with your kubectl.

On a terminal it runs until Ctrl-C, otherwise it ends after the last scenario. NO_COLOR switches colours
off. Files are under XDG_CACHE_HOME or ~/.cache.

Exit codes: 0 all expected Events came, 1 one was missing or the reporter ended, 130 after Ctrl-C.
"""

import argparse
from collections.abc import Mapping, Sequence

from reporter.cli.__main__ import Command, run_process


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    from devcluster.demo.command import run_demo  # noqa: PLC0415

    parser = argparse.ArgumentParser(
        prog="python -m devcluster",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.parse_args(argv)
    return run_demo(environ)


def _load() -> Command:
    return main


if __name__ == "__main__":
    run_process(_load, asks=False)
