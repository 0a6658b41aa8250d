"""The command line and the course of every program that measures on a real control plane."""

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from e2e.bench import rows
from e2e.bench.rows import BenchRow
from e2e.controlplane import assets
from e2e.support.arguments import natural


def parser(
    name: str, description: str | None, *options: tuple[str, int, str]
) -> argparse.ArgumentParser:
    """
    Build the argument parser of ``python -m e2e.bench.NAME``.

    *options*: name, default and meaning of each natural number.
    """
    result = argparse.ArgumentParser(
        prog=f"python -m e2e.bench.{name}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for option, default, meaning in options:
        text = f"{meaning}; default: {default}"
        result.add_argument(f"--{option}", type=natural, default=default, help=text)
    result.add_argument("--check", action="store_true", help="exit with 1 if a goal is missed")
    rows.add_argument(result)
    return result


def add_sizes(result: argparse.ArgumentParser, sizes: Sequence[int]) -> None:
    """Add the sizes of the stack at which to measure, with default *sizes*."""
    default = " ".join(map(str, sizes))
    result.add_argument(
        "--inferencesets",
        type=natural,
        nargs="+",
        default=sizes,
        help=f"InferenceSets, one or more sizes, rounded up to tens; default: {default}",
    )


def run(
    arguments: argparse.Namespace,
    measure: Callable[[argparse.Namespace], Iterator[BenchRow]],
    *,
    on_control_plane: bool = True,
) -> int:
    """Measure, print each row at once and all at the end, and return the exit code."""
    if on_control_plane:
        try:
            assets.find()
        except assets.AssetsMissing as err:
            print(err, file=sys.stderr)
            return 1
    missed = rows.report(rows.collect(_logged(measure(arguments)), arguments.json))
    return int(bool(missed) and arguments.check)


def _logged(measured: Iterable[BenchRow]) -> Iterator[BenchRow]:
    for row in measured:
        log_progress(f"{row.name}: {row.figure}")
        yield row


def log_progress(text: str) -> None:
    """Print progress to stderr."""
    print(f"{time.strftime('%H:%M:%S')}  {text}", file=sys.stderr, flush=True)
