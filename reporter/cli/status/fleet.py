"""
The command ``status --from=hub``: the clusters that a hub answers for.
"""

from collections.abc import Iterator, Mapping

from reporter.cli.configuration import load_configuration
from reporter.cli.status.arguments.parser import Arguments
from reporter.cli.status.arguments.where import Where, parse_where
from reporter.cli.status.asking import run_asking
from reporter.cli.status.exit_codes import BY_STATE, ExitCode
from reporter.cli.status.output import Format, to_json, to_yaml, without_ages
from reporter.cli.status.showing import show_answers
from reporter.cli.status.sources import READS_ALONE, find_pods_of_one
from reporter.cli.status.terminal import Terminal
from reporter.kube.client.client import RestClient, connect
from reporter.model.rollup.states import State
from reporter.runtime.process.clock import Clock
from reporter.runtime.status.hub import FleetAnswer, HubSource
from reporter.runtime.status.pods import HUB, HUB_SELECTOR, PodFetcher
from reporter.runtime.status.source import CannotAsk
from reporter.runtime.status.url import UrlFetcher
from reporter.settings import SettingsError
from reporter.sinks.tables.fleet import (
    AGE_COLUMNS,
    describe_fleet_gaps,
    fleet_head,
    fleet_rows,
    render_cluster,
)
from reporter.sinks.tables.table import NOTHING, TextTable


def run_fleet_status(
    arguments: Arguments, form: Format, terminal: Terminal, environ: Mapping[str, str]
) -> int:
    """
    Run the command and return its exit code. Raises SettingsError.
    """
    where = parse_where(arguments)
    if arguments.values["namespace"]:
        raise SettingsError("--namespace", "does not apply to --from=hub")
    if arguments.is_set("all-namespaces"):
        raise SettingsError("--all-namespaces", "does not apply to --from=hub")
    if len(arguments.names) > 1:
        unexpected = arguments.names[1]
        raise SettingsError("", f"unexpected argument {unexpected!r}; name one cluster")
    if arguments.is_set("watch") and arguments.is_set("exit-code"):
        raise SettingsError("--exit-code", "--watch has no end to exit at; leave one of them out")
    cluster = arguments.names[0] if arguments.names else ""
    printer = _Printer(terminal, form, cluster, with_head=not arguments.is_set("no-headers"))
    opener = _HubOpener(arguments, where, terminal, environ)
    command = _FleetStatus(arguments, cluster, printer, terminal, opener)
    return run_asking(command.run(), terminal, stays=arguments.is_set("watch"))


class _HubOpener:
    """
    Opens the hub that ``--from`` names: by URL, or its leader among the pods of the cluster.
    """

    def __init__(
        self,
        arguments: Arguments,
        where: Where,
        terminal: Terminal,
        environ: Mapping[str, str],
    ) -> None:
        self._arguments, self._where = arguments, where
        self._note, self._environ = terminal.note, environ

    async def open(self) -> HubSource:
        """
        Raises SettingsError, ConfigurationError or CannotAsk.
        """
        if self._where.text:
            return HubSource(UrlFetcher(self._where.text))
        flags = (*self._arguments.run_flags, *READS_ALONE)
        settings, _ = load_configuration(flags, self._environ)
        api = await connect(
            str(settings.kubeconfig) if settings.kubeconfig is not None else None,
            context=self._arguments.values["context"],
            clock=Clock(),
            environ=self._environ,
        )
        try:
            source = await self._find(api)
        except BaseException:
            await api.close()
            raise
        self._note(f"the status is that of {source.description}")
        return source

    async def _find(self, api: RestClient) -> HubSource:
        why = f"no pod has the label {HUB_SELECTOR}"
        for pod in await find_pods_of_one(api, self._arguments, HUB):
            source = HubSource(PodFetcher(api, pod, HUB))
            try:
                await source.ask()
            except CannotAsk as err:
                why = str(err)
            else:
                return source
        raise CannotAsk(f"{why}; name the address of a hub with --from=hub:URL")


class _FleetStatus:
    def __init__(
        self,
        arguments: Arguments,
        cluster: str,
        printer: "_Printer",
        terminal: Terminal,
        opener: _HubOpener,
    ) -> None:
        self._arguments, self._cluster = arguments, cluster
        self._printer, self._terminal, self._opener = printer, terminal, opener

    async def run(self) -> int:
        source = await self._opener.open()
        try:
            answer = await show_answers(
                lambda after: source.ask(self._cluster, after=after),
                self._printer,
                self._arguments,
                self._terminal,
            )
        finally:
            await source.close()
        if self._arguments.is_set("exit-code"):
            return BY_STATE[answer.worst(self._cluster)]
        return ExitCode.MET if answer.document is not None else ExitCode.NOT_ASKED


class _Printer:
    """
    Prints the answers to one question; after the first one, only what changed.

    *with_head*: tables have headers.
    """

    def __init__(self, terminal: Terminal, form: Format, cluster: str, *, with_head: bool) -> None:
        self._terminal, self._form, self._cluster = terminal, form, cluster
        self._with_head = with_head
        self._head = fleet_head(wide=form is Format.WIDE)
        self._table = TextTable(self._head, colour=terminal.colour)
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
        if changed:
            for line in self._table.render(changed, with_head=self._with_head):
                self._terminal.print(line)
            self._with_head = False
        if before is None and not rows:
            self._terminal.note("the hub answers for no cluster")

    def _content(self, row: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(
            cell for name, cell in zip(self._head, row, strict=True) if name not in AGE_COLUMNS
        )
