"""``silence list``: who silences what, why and until when, and what that holds back now."""

from collections.abc import Mapping, Sequence

from reporter.cli.event_loop import run_asking
from reporter.cli.output import ExitCode, ListFormat, Terminal, to_json
from reporter.cli.source_arguments import CLUSTER, FILE, parse_target
from reporter.cli.source_opener import source_opener
from reporter.evaluation.evaluation import Evaluation
from reporter.model.silences import SilenceState
from reporter.settings import Arguments, SettingsError
from reporter.status.one_shot import EvaluatingSource
from reporter.status.silence_list import HEAD, as_json, listed_silences, rows
from reporter.status.source import OpenSource, Target
from reporter.status.table import TextTable


def run_list(arguments: Arguments, names: Sequence[str], environ: Mapping[str, str]) -> int:
    """Print the silences about a subject, or all. Raises SettingsError."""
    target = parse_target(names, arguments.values["namespace"])
    place = arguments.values["from"]
    if place != CLUSTER and not place.startswith(FILE):
        raise SettingsError(
            f"--from={place}", "must be cluster or file:PATH, as its own reading tells"
        )
    terminal = Terminal(environ, arguments)
    open_source = source_opener(arguments, target, environ, terminal)
    return run_asking(_list(open_source, target, arguments.value("output"), terminal), terminal)


async def _list(
    open_source: OpenSource, target: Target, form: ListFormat, terminal: Terminal
) -> int:
    source = await open_source()
    try:
        assert isinstance(source, EvaluatingSource)  # noqa: S101  as --from was checked
        evaluation, notes = await source.evaluate(target)
    finally:
        await source.close()
    for note in notes:
        terminal.note(note)
    _print(evaluation, target, form, terminal)
    return ExitCode.MET


def _print(evaluation: Evaluation, target: Target, form: ListFormat, terminal: Terminal) -> None:
    found = list(listed_silences(evaluation, target))
    for silence in (each.silence for each in found):
        if silence.state is not SilenceState.ACTIVE:
            terminal.note(
                f"{silence.scope} ({silence.origin}) silences nothing: {silence.problem}"
            )
    if form is ListFormat.JSON:
        terminal.print(to_json({"silences": list(map(as_json, found))}))
        return
    if not found:
        terminal.note("there is no silence")
        return
    for line in TextTable(HEAD, width=terminal.width).render(rows(found)):
        terminal.print(line)
