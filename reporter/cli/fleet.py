"""The command ``status --from=hub``: the clusters that a hub answers for."""

from collections.abc import Iterator, Mapping

from reporter.cli.cluster_opener import ClusterAccess, find_pods_of_one
from reporter.cli.configuration import load_configuration
from reporter.cli.event_loop import run_asking
from reporter.cli.output import Format, Terminal, to_json, to_yaml
from reporter.cli.reporter_flags import READS_ALONE
from reporter.cli.source_arguments import SourceFlag, parse_source_flag
from reporter.cli.status_output import ChangePrinter, Question, show_answers
from reporter.kube.client import RestClient
from reporter.model.fleet_status import FleetDocument
from reporter.process.clock import Clock
from reporter.settings import Arguments, SettingsError
from reporter.status import fleet_table
from reporter.status.http_source import HttpSource, StatusFetcher, find_answering
from reporter.status.hub_answers import FleetAnswer, read_answer, request_of
from reporter.status.pod_fetcher import HUB, HUB_SELECTOR, PodFetcher
from reporter.status.source import StatusQueryFailed
from reporter.status.table import ChangingTable
from reporter.status.url_fetcher import UrlFetcher


def run_fleet_status(
    arguments: Arguments, form: Format, terminal: Terminal, environ: Mapping[str, str]
) -> int:
    """
    Run ``status --from=hub``, of all clusters or the one that is named, and return its exit code.

    Raises SettingsError for flags that do not apply to a hub, and for more than one name.
    """
    source_flag = parse_source_flag(arguments)
    if arguments.values["namespace"]:
        raise SettingsError("--namespace", "does not apply to --from=hub")
    if arguments.is_set("all-namespaces"):
        raise SettingsError("--all-namespaces", "does not apply to --from=hub")
    if len(arguments.names) > 1:
        unexpected = arguments.names[1]
        raise SettingsError("", f"unexpected argument {unexpected!r}; name one cluster")
    cluster = arguments.names[0] if arguments.names else ""
    printer = _Printer(terminal, form, cluster, with_head=not arguments.is_set("no-headers"))
    opener = _HubOpener(arguments, source_flag, terminal, environ)
    question = Question(opener.open, cluster, printer.print, lambda answer: answer.worst(cluster))
    shown = show_answers(question, arguments, terminal)
    return run_asking(shown, terminal, stays=arguments.is_set("watch"))


class _HubOpener:
    """Opens the hub that ``--from`` names: by URL, or its leader among the pods of the cluster."""

    def __init__(
        self,
        arguments: Arguments,
        source_flag: SourceFlag,
        terminal: Terminal,
        environ: Mapping[str, str],
    ) -> None:
        self._arguments, self._source_flag = arguments, source_flag
        self._note, self._environ = terminal.note, environ
        self._access = ClusterAccess(arguments, environ, Clock())

    async def open(self) -> HttpSource[str, FleetAnswer]:
        """
        Return the hub, to be closed by the caller.

        Raises SettingsError, ConfigurationError or StatusQueryFailed.
        """
        if self._source_flag.text:
            return self._source(UrlFetcher(self._source_flag.text, self._access.authorization))
        flags = (*self._arguments.run_flags, *READS_ALONE)
        settings, _ = load_configuration(flags, self._environ)
        api = await self._access.connect(settings)
        try:
            source = await self._find(api)
        except BaseException:
            await api.close()
            raise
        self._note(f"the status is that of {source.description}")
        return source

    def _source(self, fetcher: StatusFetcher) -> HttpSource[str, FleetAnswer]:
        timeout = self._access.request_timeout
        return HttpSource(fetcher, request_of, read_answer, answer_timeout=timeout)

    async def _find(self, api: RestClient) -> HttpSource[str, FleetAnswer]:
        pods = await find_pods_of_one(api, self._arguments, HUB)
        sources = [self._source(PodFetcher(api, pod, HUB)) for pod in pods]
        why = f"no pod has the label {HUB_SELECTOR}"
        source, why = await find_answering(sources, "", why)
        if source is None:
            raise StatusQueryFailed(f"{why}; name the address of a hub with --from=hub:URL")
        return source


class _Printer:
    """
    Prints the answers of a hub; after the first one, only what changed.

    *cluster*: the one that is asked about; empty for all. *with_head*: tables have headers.
    """

    def __init__(self, terminal: Terminal, form: Format, cluster: str, *, with_head: bool) -> None:
        self._terminal, self._form, self._cluster = terminal, form, cluster
        self._wide = form is Format.WIDE
        table = ChangingTable(
            fleet_table.fleet_head(wide=self._wide),
            ages=fleet_table.AGE_COLUMNS,
            colour=terminal.colour,
            with_head=with_head,
        )
        self._changes = ChangePrinter(terminal, form, table)

    def print(self, answer: FleetAnswer) -> None:
        document = answer.document
        if document is None:
            self._changes.print_missing(answer.missing)
            return
        for note in fleet_table.describe_fleet_gaps(document):
            self._terminal.note(note)
        if self._form in {Format.TABLE, Format.WIDE} and not self._cluster:
            self._print_table(document)
        else:
            self._changes.print_text("\n".join(self._lines(document, answer.raw)), answer.raw)

    def _print_table(self, document: FleetDocument) -> None:
        rows = [*fleet_table.fleet_rows(document, wide=self._wide)]
        is_first = self._changes.is_first
        self._changes.print_rows(rows)
        if is_first and not rows:
            self._terminal.note("the hub answers for no cluster")

    def _lines(self, document: FleetDocument, raw: object) -> Iterator[str]:
        match self._form:
            case Format.JSON:
                yield to_json(raw)
            case Format.YAML:
                yield to_yaml(raw)
            case Format.NAME:
                yield from (each.name for each in document.clusters)
            case _:
                for each in document.clusters:
                    yield from fleet_table.render_cluster(each, colour=self._terminal.colour)
