"""
Open the source that ``--from`` names.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from reporter.cli.configuration import load_configuration
from reporter.cli.status.arguments.parser import RUN_FLAGS, Arguments
from reporter.cli.status.arguments.targets import parse_optional_namespace
from reporter.kube.client.client import RestClient, connect
from reporter.kube.wire.errors import KubeError, Refused
from reporter.model.entries import Catalogue
from reporter.runtime.oneshot.cluster import Progress
from reporter.runtime.process.clock import Clock
from reporter.runtime.status.hub import HubSource
from reporter.runtime.status.one_shot import ClusterSource, DumpSource
from reporter.runtime.status.pods import (
    HUB_SELECTOR,
    SELECTOR,
    PodFetcher,
    ReporterPod,
    find_reporter_pods,
)
from reporter.runtime.status.reporter import ReporterSource
from reporter.runtime.status.source import CannotAsk, StatusSource, Target
from reporter.runtime.status.url import UrlFetcher
from reporter.settings import FlagGroup, Settings, SettingsError


AUTO, REPORTER, CLUSTER, FILE, HUB = "auto", "reporter", "cluster", "file:", "hub"
URL_SCHEMES = ("http://", "https://")
SCRAPE_OFF = "--scrape=off"

NO_PODS = f"no pod has the label {SELECTOR}"
NONE_READY = f"no pod with the label {SELECTOR} is ready"
OTHER_WAYS = "name the address of a reporter with --from=URL, or use --from=cluster"


class FoundPods(NamedTuple):
    """
    The pods of one reporter; without any, why.
    """

    pods: tuple[ReporterPod, ...]
    why: str = ""


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
        note: Callable[[str], None],
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
            return self._dump(where.removeprefix(FILE), at)
        if where.startswith(URL_SCHEMES):
            return ReporterSource(UrlFetcher(where))
        if where.partition(":")[0] == HUB:
            raise SettingsError(f"--from={where}", "a hub answers status alone")
        if where not in {AUTO, REPORTER, CLUSTER}:
            raise SettingsError(
                f"--from={where}", "must be auto, reporter, cluster, file:PATH, or a URL"
            )
        return await self._open_in_cluster(where)

    def _dump(self, path: str, at: datetime | None) -> StatusSource:
        if not path:
            raise SettingsError("--from=file:", "names no file, as file:dump.yaml does")
        settings, catalogue = self._load(())
        return DumpSource(path, settings, catalogue, now=self._clock.now, at=at)

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
        found = await self._find_pods(api)
        if where == CLUSTER:
            return self._cluster(api, found)
        source, why = await self._reporter(api, found, where)
        if source is not None:
            self._note(f"the status is that of {source.description}")
            return source
        if where == REPORTER:
            raise CannotAsk(f"{why}; {OTHER_WAYS}")
        self._note(f"this program reads the cluster itself: {why}")
        return self._cluster(api, found)

    async def _reporter(
        self, api: RestClient, found: FoundPods, where: str
    ) -> tuple[StatusSource | None, str]:
        """
        Return a reporter that answers; without one, why.
        """
        pods = [pod for pod in found.pods if pod.is_ready or where == REPORTER]
        why = NONE_READY if found.pods else found.why
        for pod in pods:
            source = ReporterSource(PodFetcher(api, pod))
            try:
                await source.ask(self._target)
            except CannotAsk as err:
                why = str(err)
            else:
                return source, ""
        return None, why

    async def _find_pods(self, api: RestClient) -> FoundPods:
        """
        Find the pods of the one reporter. Anyone may give a pod its label: several are not guessed.
        """
        namespace = parse_optional_namespace(self._arguments.values["reporter-namespace"])
        try:
            pods = await find_reporter_pods(api, namespace)
        except Refused as err:
            return FoundPods((), f"the pods of the reporter cannot be found: {err.why}")
        except KubeError as err:
            raise CannotAsk(f"the API server cannot be asked: {err}") from err
        namespaces = sorted({pod.namespace for pod in pods})
        if len(namespaces) > 1:
            names = ", ".join(namespaces)
            why = f"reporters are in the namespaces {names}; name one with --reporter-namespace"
            return FoundPods((), why)
        return FoundPods(pods, "" if pods else NO_PODS)

    def _cluster(self, api: RestClient, found: FoundPods) -> StatusSource:
        pod = found.pods[0] if found.pods else None
        settings, catalogue = self._load_with_flags_of(pod)
        if pod is not None and "catalogue-overlay" in pod.flags and not settings.catalogue_overlay:
            self._note("the reporter has a catalogue overlay; give it with --catalogue-overlay")
        return ClusterSource(api, settings, catalogue, self._clock, on_progress=self._on_progress)

    def _load_with_flags_of(self, pod: ReporterPod | None) -> tuple[Settings, Catalogue]:
        flags = evaluation_flags(pod) if pod is not None else ()
        if not flags:
            return self._load(())
        try:
            loaded = self._load(flags)
        except SettingsError as err:
            self._note(f"the flags of pod {pod} are left out: {err}")
            return self._load(())
        self._note(f"flags are those of pod {pod}, unless given here")
        return loaded

    def _load(self, found: Sequence[str]) -> tuple[Settings, Catalogue]:
        """
        Load the configuration; flags that were *found* yield to variables and to those given.
        """
        by_variable = {flag.name for flag in RUN_FLAGS.values() if flag.variable in self._environ}
        kept = [each for each in found if each[2:].partition("=")[0] not in by_variable]
        return load_configuration((*kept, *self._arguments.run_flags, SCRAPE_OFF), self._environ)


async def open_hub(
    arguments: Arguments, environ: Mapping[str, str], *, note: Callable[[str], None]
) -> HubSource:
    """
    Open the hub that ``--from`` names: by URL, or its leader among the pods of the cluster.

    Raises SettingsError, ConfigurationError or CannotAsk.
    """
    url = arguments.values["from"].partition(":")[2]
    if url:
        return HubSource(UrlFetcher(url))
    settings, _ = load_configuration((*arguments.run_flags, SCRAPE_OFF), environ)
    api = await connect(
        str(settings.kubeconfig) if settings.kubeconfig is not None else None,
        context=arguments.values["context"],
        clock=Clock(),
        environ=environ,
    )
    try:
        source = await _find_hub(api, arguments)
    except BaseException:
        await api.close()
        raise
    note(f"the status is that of {source.description}")
    return source


async def _find_hub(api: RestClient, arguments: Arguments) -> HubSource:
    namespace = parse_optional_namespace(arguments.values["reporter-namespace"])
    try:
        pods = await find_reporter_pods(api, namespace, HUB_SELECTOR)
    except KubeError as err:
        raise CannotAsk(f"the pods of the hub cannot be found: {err}") from err
    namespaces = sorted({pod.namespace for pod in pods})
    if len(namespaces) > 1:
        names = ", ".join(namespaces)
        raise CannotAsk(f"hubs are in the namespaces {names}; name one with --reporter-namespace")
    why = f"no pod has the label {HUB_SELECTOR}"
    for pod in pods:
        source = HubSource(PodFetcher(api, pod, HUB_SELECTOR))
        try:
            await source.ask()
        except CannotAsk as err:
            why = str(err)
        else:
            return source
    raise CannotAsk(f"{why}; name the address of a hub with --from=hub:URL")


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
