"""The log's table of missing permissions."""

from e2e.controlplane import until
from e2e.support.reporter_process import ReporterProcess


def missing_permissions(reporter: ReporterProcess) -> list[str]:
    """
    Return the log's table of missing permissions, from its column headings on. The table is complete
    once the status shows the review.
    """
    until(
        lambda: reporter.status()["permissions"]["reviewedAt"],
        within=60,
        what="permissions are checked",
    )
    lines = reporter.lines("permission_review")
    return [line.partition("permission_review:   ")[2] for line in lines[1:]]


def first_columns(table: list[str]) -> str:
    """Return the text of the first two columns, whose cells may go on below, without the third."""
    second, third = table[0].index("ON"), table[0].index("UNKNOWN REASONS")
    cells = [
        [line[:second].strip() for line in table],
        [line[second:third].strip() for line in table],
    ]
    return " ".join(text for column in cells for text in column[1:] if text)
