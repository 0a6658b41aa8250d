"""Open the source that ``--from`` names, with the access and the pod that flags choose."""

from collections.abc import Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING

from reporter.catalogue.entries import Catalogue
from reporter.cli.output import Terminal
from reporter.cli.reporter_flags import ConfigurationLoader
from reporter.cli.source_arguments import SourceKind, parse_source_flag
from reporter.process.clock import Clock
from reporter.process.imports import uncollected_imports
from reporter.settings import Arguments, Settings, SettingsError
from reporter.status.source import OpenSource, StatusSource, Target


if TYPE_CHECKING:
    from reporter.kube.stack_dump import DumpEnd


def source_opener(
    arguments: Arguments,
    target: Target,
    environ: Mapping[str, str],
    terminal: Terminal,
    *,
    watches: bool = False,
    used: Collection[str] = (),
) -> OpenSource:
    """
    Return the opener of the source of one command about *target*. *terminal* gets notes about it.

    *watches*: the command waits for changes. *used*: as in `parse_source_flag`. Raises SettingsError.
    """
    flag = parse_source_flag(arguments, used=used)
    if flag.kind is SourceKind.HUB:
        raise SettingsError(f"--from={arguments.values['from']}", "a hub answers status alone")
    arguments.value("request-timeout")  # is refused also where nothing is requested
    if flag.is_dump:
        return partial(_open_dump, flag.text, arguments, environ, terminal)
    # Here and not when it opens, which may have little time.
    with uncollected_imports():
        from reporter.cli.cluster_opener import ClusterOpener  # noqa: PLC0415

    opener = ClusterOpener(arguments, target, environ, terminal, watches=watches, used=used)
    return partial(opener.open, flag)


async def _open_dump(
    path: str, arguments: Arguments, environ: Mapping[str, str], terminal: Terminal
) -> StatusSource:
    with uncollected_imports():
        from reporter.status.dump import DumpSource  # noqa: PLC0415

    loader = ConfigurationLoader(arguments, environ, terminal.note)
    loader.load()  # what is refused is refused before the dump is read

    def load(end: "DumpEnd | None") -> tuple[Settings, Catalogue]:
        if end is None:
            return loader.load()
        return loader.load_found(end.flags, "the reporter in the dump", end.missing_files)

    at = arguments.value("at") if "at" in arguments.values else None
    return DumpSource(path, load, now=Clock().now, at=at)
