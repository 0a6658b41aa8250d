"""Open the source that ``--from`` names, with the access and the pod that flags choose."""

from collections.abc import Collection, Mapping

from reporter.catalogue.entries import Catalogue
from reporter.cli.asking import Terminal
from reporter.cli.reporter_flags import ConfigurationLoader
from reporter.cli.source_arguments import SourceKind, parse_source_flag
from reporter.kube.stack_dump import DumpEnd
from reporter.process.clock import Clock
from reporter.process.imports import uncollected_imports
from reporter.settings import Arguments, Settings, SettingsError
from reporter.status.source import StatusAnswer, StatusSource, Target


class SourceOpener:
    """
    Opens a source for one command about *target*. *terminal* gets notes about it.

    *watches*: the command waits for changes. *used*: as in `parse_source_flag`. Raises SettingsError.
    """

    def __init__(
        self,
        arguments: Arguments,
        target: Target,
        environ: Mapping[str, str],
        terminal: Terminal,
        *,
        watches: bool = False,
        used: Collection[str] = (),
    ) -> None:
        self._flag = parse_source_flag(arguments, used=used)
        if self._flag.kind is SourceKind.HUB:
            raise SettingsError(f"--from={arguments.values['from']}", "a hub answers status alone")
        arguments.value("request-timeout")  # is refused also where nothing is requested
        self._arguments, self._environ, self._terminal = arguments, environ, terminal
        self._cluster = None
        if not self._flag.is_dump:
            # Here and not in `open`, which may have little time.
            with uncollected_imports():
                from reporter.cli.cluster_sources import ClusterOpener  # noqa: PLC0415

            self._cluster = ClusterOpener(
                arguments, target, environ, terminal, watches=watches, used=used
            )

    async def open(self) -> StatusSource:
        """
        Return a dump, or the source that *ClusterOpener.open* opens; the caller closes it.

        Raises SettingsError, ConfigurationError or StatusQueryFailed.
        """
        if self._cluster is None:
            return self._dump(self._flag.text)
        return await self._cluster.open(self._flag)

    def _dump(self, path: str) -> StatusSource:
        with uncollected_imports():
            from reporter.status.dump import DumpSource  # noqa: PLC0415

        arguments = self._arguments
        loader = ConfigurationLoader(arguments, self._environ, self._terminal.note)
        loader.load()  # what is refused is refused before the dump is read

        def load(end: DumpEnd | None) -> tuple[Settings, Catalogue]:
            if end is None:
                return loader.load()
            return loader.load_found(end.flags, "the reporter in the dump", end.missing_files)

        at = arguments.value("at") if "at" in arguments.values else None
        return DumpSource(path, load, now=Clock().now, at=at)


class LazySource:
    """
    A source that the first question opens. If that fails, as while an API server is away, the next one does.
    """

    def __init__(self, opener: SourceOpener) -> None:
        self._opener = opener
        self._source: StatusSource | None = None

    @property
    def description(self) -> str:
        """The description of the source once it is open; empty before."""
        return self._source.description if self._source is not None else ""

    @property
    def may_lag(self) -> bool:
        """True until the source is open, as it may turn out to be a reporter; then that of the source."""
        return self._source is None or self._source.may_lag

    async def ask(self, target: Target, *, after: StatusAnswer | None = None) -> StatusAnswer:
        """Open the source if none is open yet, and ask it. Raises what opening and asking raise."""
        if self._source is None:
            self._source = await self._opener.open()
        return await self._source.ask(target, after=after)

    async def close(self) -> None:
        """Close the source, if a question has opened one."""
        if self._source is not None:
            await self._source.close()
