"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def render_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the lines of a table, each with its line break."""
    lines = (head, ["---"] * len(head), *rows)
    return "".join(f"| {' | '.join(map(_escape, line))} |\n" for line in lines)


def _escape(cell: str) -> str:
    # A bar would end the cell.
    return cell.replace("|", "\\|")
