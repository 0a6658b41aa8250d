"""
The command ``status --from=hub``: the clusters that a hub answers for.
"""

import asyncio
from collections.abc import Iterator, Mapping
from datetime import timedelta

from reporter.cli.status.arguments.parser import Arguments
from reporter.cli.status.asking import run_asking
from reporter.cli.status.exit_codes import BY_STATE, ExitCode
from reporter.cli.status.output import Format, to_json, to_yaml, without_ages
from reporter.cli.status.sources import HUB, URL_SCHEMES, open_hub
from reporter.cli.status.terminal import Terminal
from reporter.model.rollup.states import State
from reporter.runtime.status.hub import FleetAnswer, HubSource
from reporter.runtime.status.source import CannotAsk
from reporter.settings import SettingsError
from reporter.sinks.tables.fleet import (
    AGE_COLUMNS,
    describe_fleet_gaps,
    fleet_head,
    fleet_rows,
    render_cluster,
)
from reporter.sinks.tables.table import NOTHING, Table


INTERVAL = timedelta(seconds=1)
"""
The pause between two questions, of which the second one waits at the hub for a change.
"""


def is_about_fleet(arguments: Arguments) -> bool:
    """
    Return whether a hub is asked; raises SettingsError for a hub that is written in another way.
    """
    where = arguments.values["from"]
    name, colon, url = where.partition(":")
    if name != HUB:
        return False
    if colon and not url.startswith(URL_SCHEMES):
        raise SettingsError(f"--from={where}", "must be hub, or hub: and the URL of a hub")
    return True


def run_fleet_status(
    arguments: Arguments, form: Format, terminal: Terminal, environ: Mapping[str, str]
) -> int:
    """
    Run the command and return its exit code. Raises SettingsError.
    """
    for name in ("namespace", "at"):
        if arguments.values[name]:
            raise SettingsError(f"--{name}", "does not apply to --from=hub")
    if arguments.is_set("all-namespaces"):
        raise SettingsError("--all-namespaces", "does not apply to --from=hub")
    if len(arguments.names) > 1:
        unexpected = arguments.names[1]
        raise SettingsError("", f"unexpected argument {unexpected!r}; name one cluster")
    cluster = arguments.names[0] if arguments.names else ""
    command = _FleetStatus(arguments, cluster, form, terminal, environ)
    return run_asking(command.run(), terminal)


class _FleetStatus:
    def __init__(
        self,
        arguments: Arguments,
        cluster: str,
        form: Format,
        terminal: Terminal,
        environ: Mapping[str, str],
    ) -> None:
        self._arguments, self._cluster, self._environ = arguments, cluster, environ
        self._printer = _Printer(terminal, form, cluster)
        self._terminal = terminal

    async def run(self) -> int:
        source = await open_hub(self._arguments, self._environ, note=self._terminal.note)
        try:
            answer = await source.ask(self._cluster)
            self._printer.print(answer)
            if self._arguments.is_set("watch"):
                await self._watch(source, answer)
        finally:
            await source.close()
        if self._arguments.is_set("exit-code"):
            return BY_STATE[answer.worst(self._cluster)]
        return ExitCode.MET if answer.document is not None else ExitCode.NOT_ASKED

    async def _watch(self, source: HubSource, answer: FleetAnswer) -> None:
        """
        Print each change, until a signal ends the program.
        """
        last_error = ""
        while True:
            pause, error = INTERVAL, ""
            try:
                answer = await source.ask(self._cluster, after=answer)
            except CannotAsk as err:
                if not err.may_pass:
                    raise
                pause, error = err.retry_after or INTERVAL, str(err)
                if error != last_error:
                    self._terminal.error(error)
            else:
                self._printer.print(answer)
            last_error = error
            await asyncio.sleep(pause.total_seconds())


class _Printer:
    """
    Prints the answers to one question; after the first one, only what changed.
    """

    def __init__(self, terminal: Terminal, form: Format, cluster: str) -> None:
        self._terminal, self._form, self._cluster = terminal, form, cluster
        self._head = fleet_head(wide=form is Format.WIDE)
        self._table = Table(self._head, colour=terminal.colour)
        self._last: object = None

    def print(self, answer: FleetAnswer) -> None:
        document = answer.document
        if document is None:
            if self._last != answer.missing:
                self._terminal.error(f"not found: {answer.missing}")
            self._last = answer.missing
            return
        for note in describe_fleet_gaps(document):
            self._terminal.note(note)
        if self._form in {Format.TABLE, Format.WIDE} and not self._cluster:
            self._print_table(answer)
            return
        content = without_ages(answer.raw)
        if content != self._last:
            self._terminal.print("\n".join(self._lines(answer)))
        self._last = content

    def _lines(self, answer: FleetAnswer) -> Iterator[str]:
        clusters = answer.document.clusters if answer.document is not None else ()
        if self._last is not None and self._form is not Format.JSON:
            yield "---"
        match self._form:
            case Format.JSON:
                yield to_json(answer.raw)
            case Format.YAML:
                yield to_yaml(answer.raw)
            case Format.NAME:
                yield from (each.name for each in clusters)
            case Format.TABLE | Format.WIDE:
                for each in clusters:
                    yield from render_cluster(each, colour=self._terminal.colour)

    def _print_table(self, answer: FleetAnswer) -> None:
        wide = self._form is Format.WIDE
        rows = [*fleet_rows(answer.document, wide=wide)] if answer.document is not None else []
        before = self._last if isinstance(self._last, frozenset) else None
        changed = [row for row in rows if before is None or self._content(row) not in before]
        self._last = frozenset(map(self._content, rows))
        rest = (NOTHING,) * (len(self._head) - 2)
        deleted = {row[0] for row in before or ()} - {row[0] for row in rows}
        changed += [(name, State.NOT_FOUND.value, *rest) for name in sorted(deleted)]
        if changed or before is None:
            for line in self._table.render(changed, with_head=before is None):
                self._terminal.print(line)

    def _content(self, row: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(
            cell for name, cell in zip(self._head, row, strict=True) if name not in AGE_COLUMNS
        )
