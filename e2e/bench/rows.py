"""
Print the rows of several benchmarks as one table in Markdown.

The other programs write their figures and goals as JSON with --json. --readme replaces the table in
a README between two marks.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from e2e.support import machine


BEGIN, END = "<!-- benchmarks: begin -->\n", "<!-- benchmarks: end -->\n"
HEAD = ("what", "goal", "measured", "met", "how")
GOAL_MET_TEXT = {True: "yes", False: "**no**", None: ""}


@dataclass(frozen=True)
class BenchRow:
    """
    A figure and its goal, both with units. *met* is None without a goal; *note* has the conditions.
    """

    name: str
    goal: str
    figure: str
    met: bool | None = None
    note: str = ""


def collect(measured: Iterable[BenchRow], path: Path | None) -> list[BenchRow]:
    """
    Return the rows. Write those so far to *path*, if given, after each: who stops a benchmark keeps them.
    """
    found: list[BenchRow] = []
    for row in measured:
        found.append(row)
        if path is not None:
            write(found, path)
    return found


def report(rows: Sequence[BenchRow]) -> int:
    """Print the table and return the number of missed goals."""
    print("\n".join(table(rows)))
    return sum(row.met is False for row in rows)


def table(rows: Iterable[BenchRow]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield _line(HEAD)
    yield _line("---" for _ in HEAD)
    for row in rows:
        yield _line((row.name, row.goal, row.figure, GOAL_MET_TEXT[row.met], row.note))


def write(rows: Iterable[BenchRow], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


def read(path: Path) -> list[BenchRow]:
    """Read the rows that `write` wrote."""
    return [BenchRow(**row) for row in json.loads(path.read_text())]


def add_argument(parser: argparse.ArgumentParser) -> None:
    """Add --json, the path for `collect`."""
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the rows to this file")


def update_readme(readme: Path, rows: Iterable[BenchRow]) -> None:
    """Replace the table between the two marks. Raise ValueError if they are missing."""
    before, found, rest = readme.read_text().partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise ValueError(f"{readme} has no lines {BEGIN.strip()} and {END.strip()}")
    machine_lines = "\n".join(f"    {line.partition(', load ')[0]}" for line in machine.lines())
    new = "\n".join(table(rows))
    readme.write_text(f"{before}{BEGIN}{machine_lines}\n\n{new}\n{END}{after}")


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m e2e.bench.rows",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH", help="files with rows")
    parser.add_argument(
        "--readme", type=Path, metavar="PATH", help="file in which to replace the table"
    )
    add_argument(parser)
    arguments = parser.parse_args()
    measured = (row for path in arguments.paths for row in read(path))
    collected = collect(measured, arguments.json)
    report(collected)
    if arguments.readme is not None:
        update_readme(arguments.readme, collected)
    return 0


if __name__ == "__main__":
    sys.exit(main())
