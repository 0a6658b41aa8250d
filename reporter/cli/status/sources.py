"""
Open the source that ``--from`` names.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from reporter.cli.configuration import load_configuration
from reporter.cli.status.arguments import RUN_FLAGS, Arguments
from reporter.kube.client.client import RestClient, connect
from reporter.kube.wire.errors import KubeError, Refused
from reporter.model.entries import Catalogue
from reporter.runtime.oneshot.cluster import Progress
from reporter.runtime.process.clock import Clock
from reporter.runtime.status.one_shot import ClusterSource, DumpSource
from reporter.runtime.status.pods import SELECTOR, PodFetcher, ReporterPod, find_reporter_pods
from reporter.runtime.status.reporter import ReporterSource
from reporter.runtime.status.source import CannotAsk, StatusSource, Target
from reporter.runtime.status.url import UrlFetcher
from reporter.settings import FlagGroup, Settings, SettingsError


AUTO, REPORTER, CLUSTER, FILE = "auto", "reporter", "cluster", "file:"
SCRAPE_OFF = "--scrape=off"

NO_PODS = f"no pod has the label {SELECTOR}"
OTHER_WAYS = "name the address of a reporter with --from=URL, or use --from=cluster"

Note = Callable[[str], None]


class SourceOpener:
    """
    Opens a source for one command about *target*. *note* gets what the user should know of it.
    """

    def __init__(
        self,
        arguments: Arguments,
        target: Target,
        environ: Mapping[str, str],
        *,
        note: Note,
        on_progress: Progress = lambda _, __: None,
    ) -> None:
        self._arguments, self._target = arguments, target
        self._environ, self._note = environ, note
        self._on_progress = on_progress
        self._clock = Clock()

    async def open(self) -> StatusSource:
        """
        Raises SettingsError, ConfigurationError or CannotAsk.
        """
        where = self._arguments.values["from"]
        at = parse_time(self._arguments.values.get("at", ""))
        if at is not None and not where.startswith(FILE):
            raise SettingsError("--at", "applies to dumps alone: --from=file:PATH")
        if where.startswith(FILE):
            settings, catalogue = self._load(())
            path = where.removeprefix(FILE)
            if not path:
                raise SettingsError(f"--from={where}", "names no file, as file:dump.yaml does")
            return DumpSource(path, settings, catalogue, now=self._clock.now, at=at)
        if where.startswith(("http://", "https://")):
            return ReporterSource(UrlFetcher(where))
        if where not in {AUTO, REPORTER, CLUSTER}:
            raise SettingsError(
                f"--from={where}", "must be auto, reporter, cluster, file:PATH, or a URL"
            )
        return await self._open_in_cluster(where)

    async def _open_in_cluster(self, where: str) -> StatusSource:
        settings, _ = self._load(())
        api = await connect(
            str(settings.kubeconfig) if settings.kubeconfig is not None else None,
            context=self._arguments.values["context"],
            clock=self._clock,
            environ=self._environ,
        )
        try:
            return await self._choose(where, api)
        except BaseException:
            await api.close()
            raise

    async def _choose(self, where: str, api: RestClient) -> StatusSource:
        pods, why = await self._find_pods(api, where)
        if where != CLUSTER:
            for pod in pods:
                source = ReporterSource(PodFetcher(api, pod))
                try:
                    await source.ask(self._target)
                except CannotAsk as err:
                    why = str(err)
                    if where == REPORTER and pod is pods[-1]:
                        raise
                else:
                    self._note(f"the status is that of {source.description}")
                    return source
            if where == REPORTER:
                raise CannotAsk(f"{why}; {OTHER_WAYS}")
        return self._cluster_source(api, pods, why if where == AUTO else "")

    async def _find_pods(self, api: RestClient, where: str) -> tuple[Sequence[ReporterPod], str]:
        try:
            return await find_reporter_pods(api), NO_PODS
        except Refused as err:
            return (), f"the pods of the reporter cannot be found: {err.why}"
        except KubeError as err:
            raise CannotAsk(f"the API server cannot be asked: {err}", may_pass=True) from err

    def _cluster_source(
        self, api: RestClient, pods: Sequence[ReporterPod], why: str
    ) -> StatusSource:
        flags = evaluation_flags(pods[0]) if pods else ()
        settings, catalogue = self._load(flags)
        if why:
            self._note(f"this program reads the cluster itself: {why}")
        if flags:
            self._note(f"flags are those of pod {pods[0]}, unless given here")
        if pods and "catalogue-overlay" in pods[0].flags and not settings.catalogue_overlay:
            self._note("the reporter has a catalogue overlay; give it with --catalogue-overlay")
        return ClusterSource(api, settings, catalogue, self._clock, on_progress=self._on_progress)

    def _load(self, found: Sequence[str]) -> tuple[Settings, Catalogue]:
        """
        Load the configuration; flags that were *found* yield to variables and to those given.
        """
        given = {flag.name for flag in RUN_FLAGS.values() if flag.variable in self._environ}
        kept = [each for each in found if each[2:].partition("=")[0] not in given]
        arguments = (*kept, *self._arguments.run_flags, SCRAPE_OFF)
        return load_configuration(arguments, self._environ)


def evaluation_flags(pod: ReporterPod) -> tuple[str, ...]:
    """
    Return the flags of a reporter that decide what is evaluated, and for how long.
    """
    groups = {FlagGroup.WATCHED, FlagGroup.EVENTS, FlagGroup.WEIGHTS}
    names = {flag.name for flag in RUN_FLAGS.values() if flag.group in groups}
    return tuple(f"--{name}={text}" for name, text in pod.flags.items() if name in names)


def parse_time(text: str) -> datetime | None:
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise SettingsError(f"--at={text}", "must be a time such as 2026-01-31T12:00:00Z")
    return found.astimezone(UTC)
