"""``status --history``: what was wrong, how long and how often, as HealthEvents show."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

import msgspec

from reporter.cli.cluster_opener import ClusterOpener
from reporter.cli.output import ExitCode, Format, Terminal, to_json, to_yaml
from reporter.cli.source_arguments import SourceKind, parse_source_flag
from reporter.history.history import PastEpisode, group_episodes, select_episodes
from reporter.model.enums import Layer
from reporter.settings import Arguments, SettingsError
from reporter.status import history_table
from reporter.status.history_source import read_health_events
from reporter.status.source import Target
from reporter.status.table import TextTable


SINCE = "since"
EXCLUDED = ("watch", "all-namespaces", "exit-code")


class HistoryReading:
    """One reading of the history of *target*. Raises SettingsError for flags that do not fit."""

    def __init__(
        self,
        arguments: Arguments,
        target: Target,
        form: Format,
        terminal: Terminal,
        environ: Mapping[str, str],
    ) -> None:
        for name in EXCLUDED:
            if arguments.is_set(name):
                raise SettingsError(f"--{name}", "does not go with --history")
        if parse_source_flag(arguments).kind not in {SourceKind.AUTO, SourceKind.CLUSTER}:
            given = f"--from={arguments.values['from']}"
            raise SettingsError(given, "does not go with --history, which the cluster keeps")
        if form is Format.NAME:
            raise SettingsError("--output=name", "does not go with --history")
        self._since = parse_since(arguments)
        self._target, self._form, self._terminal = target, form, terminal
        self._with_head = not arguments.is_set("no-headers")
        self._opener = ClusterOpener(arguments, target, environ, terminal)

    async def run(self) -> int:
        """
        Read the HealthEvents once, and print the episodes of the target.

        They are those of all namespaces, or of the reporter's alone where others may not be listed.
        Return the exit code MET, also without any episode. Raises StatusQueryFailed if they cannot be read.
        """
        async with self._opener.connected() as (api, settings, clock):
            found = await read_health_events(api, settings.release_namespace, self._terminal.note)
            now = clock.now()
        target = self._target
        episodes = select_episodes(
            found,
            since=self._since,
            now=now,
            layer=Layer.CLUSTER if target.is_cluster else None,
            namespace=target.namespace,
            name=target.name,
        )
        for line in self._render(episodes, now):
            self._terminal.print(line)
        if not episodes:
            self._terminal.note("no episode is kept of that time")
        return ExitCode.MET

    def _render(self, episodes: list[PastEpisode], now: datetime) -> Iterator[str]:
        match self._form:
            case Format.JSON:
                yield to_json(msgspec.to_builtins(episodes))
            case Format.YAML:
                yield to_yaml(msgspec.to_builtins(episodes))
            case _ if not episodes:
                return
            case Format.WIDE:
                wide = history_table.episode_rows(episodes, now=now)
                yield from TextTable(history_table.WIDE_COLUMNS).render(
                    wide, with_head=self._with_head
                )
            case _:
                rows = history_table.history_rows(group_episodes(episodes), now=now)
                yield from TextTable(history_table.COLUMNS).render(rows, with_head=self._with_head)


def parse_since(arguments: Arguments) -> timedelta:
    """Return how far back ``--since`` looks. Raises SettingsError for 0 seconds."""
    found: timedelta = arguments.value(SINCE)
    if not found:
        raise SettingsError(
            f"--{SINCE}={arguments.values[SINCE]}", "must be longer than 0 seconds"
        )
    return found
