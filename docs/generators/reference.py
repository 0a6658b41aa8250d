"""
The generated tables of the folder docs/: metrics, flags, commands, variables, troubleshooting.

``python -m docs.generators.reference`` renews them in the folder docs/ of the working directory;
another folder may be given as the argument. A test compares the files with the program.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from docs.generators.label_texts import CLOSED_SETS, LABEL_TEXTS, ClosedSet
from docs.generators.markdown import render_table
from reporter import PROGRAM_NAME
from reporter.cli.command import Command, all_commands
from reporter.cli.configuration import load_shipped_catalogue
from reporter.controller.coverage import reasons_without
from reporter.hub.metric_declarations import HUB_METRICS
from reporter.job.variables import VARIABLES
from reporter.kinds.default_kinds import DEFAULT_KINDS, OPTIONAL_KINDS
from reporter.metrics.declarations import METRICS, MetricDeclaration
from reporter.model.enums import DetailSource
from reporter.settings import FLAGS, Flag, FlagGroup


BEGIN, END = "<!-- generated: begin -->\n", "<!-- generated: end -->\n"
COMMAND = "python -m docs.generators.reference"


def render_metrics() -> str:
    """
    Return Markdown tables of the metrics, of those of the hub, of their labels, and of closed sets.
    """
    return "\n".join(
        (
            _metric_table(METRICS),
            f"## Of the hub\n\n{_metric_table(HUB_METRICS)}",
            f"## Labels\n\n{_label_table()}",
            "## Values of labels\n",
            *(f"{each.heading}:\n\n{_value_table(each)}" for each in CLOSED_SETS),
        )
    )


def _metric_table(metrics: Iterable[MetricDeclaration]) -> str:
    rows = (
        (
            f"`{each.full_name}`",
            each.type,
            ", ".join(f"`{label}`" for label in each.labels),
            each.help,
        )
        for each in metrics
    )
    return render_table(("metric", "type", "labels", "meaning"), rows)


def _label_table() -> str:
    texts = [(_names(each.labels, each.metrics), each.text) for each in LABEL_TEXTS]
    sets = [
        (_names((each.label,), each.metrics), f"{_values(each)}: see [below](#values-of-labels)")
        for each in CLOSED_SETS
    ]
    return render_table(("label", "values"), sorted(texts + sets))


def _names(labels: Iterable[str], metrics: Iterable[MetricDeclaration]) -> str:
    of = ", ".join(f"`{each.name}`" for each in metrics)
    return ", ".join(f"`{label}`" for label in labels) + (f" of {of}" if of else "")


def _values(closed: ClosedSet) -> str:
    return ", ".join(f"`{each.value}`" for each in closed.values)


def _value_table(closed: ClosedSet) -> str:
    width = max(map(len, closed.values.values()))
    rows = (
        (f"`{value.value}`", *texts, *[""] * (width - len(texts)))
        for value, texts in closed.values.items()
    )
    return render_table((f"`{closed.label}`", "meaning", "what happens next")[: width + 1], rows)


def render_flags() -> str:
    """Return a heading and a Markdown table for each group of flags."""
    return "\n".join(
        f"## {group.value}\n\n{_flag_table(flag for flag in FLAGS if flag.group is group)}"
        for group in FlagGroup
    )


def render_unknown_reasons() -> str:
    """Return a Markdown table with a row for each kind, and the reasons that need it."""
    catalogue = load_shipped_catalogue()
    rows = (
        (
            f"`{kind.group_resource}`",
            *map(_reason_cell, reasons_without(kind, catalogue, frozenset(DetailSource))),
        )
        for kind in (*DEFAULT_KINDS, *OPTIONAL_KINDS)
    )
    headings = (
        "kind",
        "Unknown without it",
        "Unknown where it is consulted",
        "less detail without it",
    )
    return render_table(headings, rows)


def render_commands() -> str:
    """
    Return a section for each command: its usage, examples, and a Markdown table of its own flags.
    """
    return "\n".join(_command_section(name, each) for name, each in all_commands().items())


def _command_section(name: str, command: Command) -> str:
    lines = [f"    {PROGRAM_NAME} {command.usage}"]
    lines += [f"\n    # {what}\n    {PROGRAM_NAME} {words}" for words, what in command.examples]
    parts = [f"### {name}", command.summary, "\n".join(lines)]
    if command.flags:
        parts.append(_command_flag_table(command.flags).rstrip("\n"))
    if command.settings:
        taken = {flag.group for flag in FLAGS if flag.name in command.settings}
        links = ", ".join(
            f"[{each.value}](flags.md#{each.value.lower().replace(' ', '-')})"
            for each in FlagGroup
            if each in taken
        )
        parts.append(f"Also flags of: {links}.")
    return "\n\n".join(parts) + "\n"


def render_variables() -> str:
    """Return a Markdown table with a row for each variable of the Job sidecar."""
    rows = (
        (
            f"`{each.name}`",
            "required" if each.is_required else f"`{each.default}`" if each.default else "",
            each.help,
        )
        for each in VARIABLES
    )
    return render_table(("variable", "default", "meaning"), rows)


RENDERERS: Mapping[str, Callable[[], str]] = {
    "metrics.md": render_metrics,
    "flags.md": render_flags,
    "commands.md": render_commands,
    "job-status.md": render_variables,
    "troubleshooting.md": render_unknown_reasons,
}
"""Text between the two marks of each file."""


def renew(page: str, generated: str) -> str:
    """
    Return the page with *generated* between its two marks. Raise ValueError if they are missing.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page has no lines {BEGIN.strip()} and {END.strip()}")
    return f"{before}{BEGIN}\n{generated}\n{END}{after}"


def _reason_cell(reasons: Iterable[str]) -> str:
    return ", ".join(f"`{reason}`" for reason in sorted(reasons))


def _flag_table(flags: Iterable[Flag]) -> str:
    rows = (
        (
            f"`--{each.name}`",
            f"`{each.default}`" if each.default else "",
            f"`{each.variable}`",
            each.help,
        )
        for each in flags
    )
    return render_table(("flag", "default", "environment variable", "meaning"), rows)


def _command_flag_table(flags: Iterable[Flag]) -> str:
    rows = (
        (
            f"`-{each.short}`, `--{each.name}`" if each.short else f"`--{each.name}`",
            f"`{each.value_text}`" if each.value_text else "",
            f"`{each.default}`" if each.default and not each.is_boolean else "",
            each.help,
        )
        for each in flags
    )
    return render_table(("flag", "value", "default", "meaning"), rows)


def main() -> None:
    """
    Renew the generated part of each page in the folder of the first argument; docs/ without one.

    Raises ValueError for a page without the two marks.
    """
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs")
    for name, render in RENDERERS.items():
        path = folder / name
        path.write_text(renew(path.read_text("utf-8"), render()), "utf-8")


if __name__ == "__main__":
    main()
