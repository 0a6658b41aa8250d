"""
Each figure of a benchmark beside its goal: as a table in Markdown, and as JSON to be merged.

`python -m e2e.bench.rows a.json b.json …` prints one table of the rows that several programs wrote;
with `--readme e2e/bench/README.md` it replaces the table between the two marks there.
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
    *goal* and *figure* with their units. *met*: None for a figure that has no goal. *note*: under
    what conditions it was measured.
    """

    name: str
    goal: str
    figure: str
    met: bool | None = None
    note: str = ""


def report(rows: Sequence[BenchRow], path: Path | None) -> int:
    """
    Print the table, and write the rows to *path* too if there is one. Returns how many miss their goal.
    """
    print("\n".join(table(rows)))
    if path is not None:
        write(rows, path)
    return sum(row.met is False for row in rows)


def table(rows: Iterable[BenchRow]) -> Iterator[str]:
    """
    In Markdown; what would end a cell early is escaped.
    """
    yield _line(HEAD)
    yield _line("---" for _ in HEAD)
    for row in rows:
        yield _line((row.name, row.goal, row.figure, GOAL_MET_TEXT[row.met], row.note))


def write(rows: Iterable[BenchRow], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


def read(path: Path) -> list[BenchRow]:
    """
    What *write* has written.
    """
    return [BenchRow(**each) for each in json.loads(path.read_text())]


def add_argument(parser: argparse.ArgumentParser) -> None:
    """
    For the value of *tell*'s path, as `arguments.json`.
    """
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the rows there too")


def update_readme(readme: Path, rows: Iterable[BenchRow]) -> None:
    """
    Between the two marks. Raises ValueError if they are not there.
    """
    before, found, rest = readme.read_text().partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise ValueError(f"{readme} has no lines {BEGIN.strip()} and {END.strip()}")
    about = "\n".join(f"    {line.partition(', load ')[0]}" for line in machine.lines())
    new = "\n".join(table(rows))
    readme.write_text(f"{before}{BEGIN}{about}\n\n{new}\n{END}{after}")


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(each.replace("|", "\\|") for each in cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m e2e.bench.rows",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH")
    parser.add_argument("--readme", type=Path, metavar="PATH", help="put the table in there too")
    add_argument(parser)
    arguments = parser.parse_args()
    found = [row for path in arguments.paths for row in read(path)]
    report(found, arguments.json)
    if arguments.readme is not None:
        update_readme(arguments.readme, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
