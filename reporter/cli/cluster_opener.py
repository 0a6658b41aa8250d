"""Open the sources behind an API server, or behind the address of a reporter."""

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import NamedTuple

from reporter.catalogue.entries import Catalogue
from reporter.catalogue.silence_file import SILENCE_FILE
from reporter.cli.command import EVALUATION_FLAGS
from reporter.cli.output import Terminal
from reporter.cli.reporter_flags import FILES, ConfigurationLoader
from reporter.cli.source_arguments import (
    KUBECONFIG,
    SourceFlag,
    SourceKind,
    parse_optional_namespace,
)
from reporter.kube.client import RestClient
from reporter.kube.config_maps import ConfigMapText
from reporter.kube.connect import connect
from reporter.kube.errors import KubeError, Refused, Throttled, Unreachable
from reporter.kube.rest_config import load_bearer
from reporter.model.silences import SilenceFile
from reporter.process.clock import Clock
from reporter.settings import FLAGS, Arguments, Settings, load_settings
from reporter.status import pod_fetcher
from reporter.status.http_source import HttpSource, StatusFetcher, find_answering
from reporter.status.mounted_silences import parse_mounted, read_mounted
from reporter.status.one_shot_cluster import ClusterSource
from reporter.status.reporter_answers import read_answer, request_of
from reporter.status.source import StatusAnswer, StatusQueryFailed, StatusSource, Target
from reporter.status.url_fetcher import UrlFetcher


# --------------------------------------------------------------------
# Reach a cluster as ``--kubeconfig``, ``--context``, ``--as`` and ``--request-timeout`` say.


class ClusterAccess:
    """
    The access to a cluster of the user whom the flags of a command name.

    *request_timeout*: that of ``--request-timeout``; None for 0, the default, when each kind of request has
    a limit of its own. Raises SettingsError if the flag is malformed.
    """

    def __init__(self, arguments: Arguments, environ: Mapping[str, str], clock: Clock) -> None:
        self._arguments, self._environ, self._clock = arguments, environ, clock
        self.request_timeout: timedelta | None = arguments.value("request-timeout") or None

    async def connect(self, settings: Settings) -> RestClient:
        """
        Return a client of the API server for the user and the context that flags name.

        Raises ConfigurationError for a kubeconfig that cannot be used.
        """
        return await connect(
            _kubeconfig(settings),
            context=self._arguments.values["context"],
            impersonated=self._arguments.values["as"],
            request_timeout=self.request_timeout,
            clock=self._clock,
            environ=self._environ,
        )

    async def authorization(self) -> str:
        """
        Return the header Authorization with the user's token; empty if the user has none.

        Raises SettingsError or ConfigurationError.
        """
        settings = load_settings(self._arguments.run_flags, self._environ)
        context = self._arguments.values["context"]
        return await load_bearer(_kubeconfig(settings), self._environ, context=context)


def _kubeconfig(settings: Settings) -> str | None:
    return str(settings.kubeconfig) if settings.kubeconfig is not None else None


# --------------------------------------------------------------------
# The flags of a reporter's pod, for a command that evaluates in its place.


def evaluation_flags(pod: pod_fetcher.ReporterPod) -> tuple[str, ...]:
    """
    Return the flags of a reporter that decide what is evaluated, and for how long, as ``--flag=value``.

    Flags that name files are left out: the files are in the pod and not here.
    """
    names = EVALUATION_FLAGS - {flag.name for flag in FLAGS if flag.is_file}
    if _has_own_packs(pod):
        names -= {"packs"}
    return tuple(f"--{name}={text}" for name, text in pod.flags.items() if name in names)


def files_of(pod: pod_fetcher.ReporterPod) -> tuple[str, ...]:
    """
    Return the names of a reporter's flags whose files are in its pod alone.

    The file of silences is left out: a ConfigMap may have it.
    """
    names = FILES.keys() & pod.flags.keys() - {SILENCE_FILE}
    if not _has_own_packs(pod):
        names -= {"packs"}
    return tuple(sorted(names))


def _has_own_packs(pod: pod_fetcher.ReporterPod) -> bool:
    """True if a reporter reads packs from folders, which are not here."""
    return "/" in pod.flags.get("packs", "")


NO_PODS = f"no pod has the label {pod_fetcher.SELECTOR}"
NONE_READY = f"no pod with {pod_fetcher.SELECTOR} is ready"
CHECK = "kubectl cluster-info shows what the kubeconfig leads to"
WITHIN = "try --reporter-namespace"
OTHER_SOURCES = "name the address of a reporter with --from=URL, or use --from=cluster"


class PodsNotFound(StatusQueryFailed):
    """
    The error for pods of a reporter or hub that may not be listed, or are in several namespaces.

    With --from=auto a command then reads the cluster itself.
    """


async def find_pods_of_one(
    api: RestClient, arguments: Arguments, asked: pod_fetcher.Asked
) -> tuple[pod_fetcher.ReporterPod, ...]:
    """
    Return the pods of the one reporter or hub, ready ones first; none if no pod has its label.

    Raises PodsNotFound if pods may not be listed, or have the label in several namespaces: anyone may give
    it to a pod, so the program does not guess. Raises StatusQueryFailed if the API server gives no list.
    """
    namespace = parse_optional_namespace(arguments.values["reporter-namespace"])
    try:
        pods = await pod_fetcher.find_reporter_pods(api, namespace, asked.selector)
    except Refused as err:
        why = f"pods of a {asked.program}: {err.why}"
        raise PodsNotFound(why if namespace else f"{why}; {WITHIN}") from err
    except KubeError as err:
        may_pass = isinstance(err, Unreachable | Throttled)
        raise StatusQueryFailed(
            f"the API server cannot be asked: {err}; {CHECK}", may_pass=may_pass
        ) from err
    names = ", ".join(sorted({pod.namespace for pod in pods}))
    if ", " in names:
        raise PodsNotFound(f"choose a --reporter-namespace: {asked.program}s are in {names}")
    return pods


class FoundPods(NamedTuple):
    """The pods of one reporter, ready ones first. *why*: the reason if there are none; else empty."""

    pods: tuple[pod_fetcher.ReporterPod, ...]
    why: str = ""


class FoundConfiguration(NamedTuple):
    """
    The configuration to evaluate with in place of the cluster's reporter, and what was found of that.

    *flags*: those of the reporter, as *evaluation_flags* returns them. *silences*: the text of its file of
    silences. *missing_files*: the names of its flags whose files are not read. All are empty if the
    cluster has no reporter.
    """

    settings: Settings
    catalogue: Catalogue
    flags: tuple[str, ...]
    silences: str
    missing_files: tuple[str, ...]


async def _read_silences(
    api: RestClient, pod: pod_fetcher.ReporterPod
) -> tuple[ConfigMapText | None, str]:
    """Return the file of silences of a reporter, None without one; and why it could not be read."""
    if SILENCE_FILE not in pod.flags:
        return None, ""
    why = "it is in no ConfigMap"
    try:
        found = await read_mounted(api, pod)
    except KubeError as err:
        why, found = str(err), None
    return (
        found,
        "" if found is not None else f"the reporter's file of silences was not read: {why}",
    )


class ClusterOpener:
    """
    Opens the sources of one command about *target* that are no dumps. *terminal* gets notes about them.

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
        self._arguments, self._target, self._environ = arguments, target, environ
        self._watches, self._used = watches, used
        self._note, self._on_progress = terminal.note, terminal.progress
        self._clock = Clock()
        self._access = ClusterAccess(arguments, environ, self._clock)
        self._loader = ConfigurationLoader(arguments, environ, terminal.note)

    async def open(self, flag: SourceFlag) -> StatusSource:
        """
        Return the source that ``--from`` names, to be closed by the caller.

        AUTO tries the pods of a reporter, and else reads the cluster; a note tells the user which it is.
        Raises SettingsError, ConfigurationError or StatusQueryFailed.
        """
        if flag.kind is SourceKind.URL:
            return self._source(UrlFetcher(flag.text, self._access.authorization))
        return await self._open_in_cluster(flag.kind)

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[tuple[RestClient, Settings, Clock]]:
        """Connect to the API server for a while. Raises SettingsError or ConfigurationError."""
        settings, _ = self._loader.load()
        api = await self._access.connect(settings)
        try:
            yield api, settings, self._clock
        finally:
            await api.close()

    async def _open_in_cluster(self, kind: SourceKind) -> StatusSource:
        settings, _ = self._loader.load()
        api = await self._access.connect(settings)
        try:
            return await self._choose(kind, api)
        except BaseException:
            await api.close()
            raise

    async def _choose(self, kind: SourceKind, api: RestClient) -> StatusSource:
        found = await self._find_pods(api)
        if kind is SourceKind.CLUSTER:
            return await self._cluster(api, found)
        source, why = await self._reporter(api, found, kind)
        if source is not None:
            self._note(f"the status is that of {source.description}")
            self._note_idle_flags()
            return source
        if kind is SourceKind.REPORTER:
            raise StatusQueryFailed(f"{why}; {OTHER_SOURCES}")
        verb = "watched" if self._watches else "read"
        self._note(f"{verb} from the cluster: {why}")
        return await self._cluster(api, found)

    def _note_idle_flags(self) -> None:
        """Note the flags that shape an evaluation, but not that of a reporter."""
        given = self._arguments.settings.keys() - {KUBECONFIG, *self._used}
        names = ", ".join(f"--{name}" for name in sorted(given))
        if names:
            self._note(f"{names}: no effect on a reporter; --from=cluster evaluates with it")

    async def _reporter(
        self, api: RestClient, found: FoundPods, kind: SourceKind
    ) -> tuple[StatusSource | None, str]:
        """Return a reporter that answers; without one, why."""
        pods = [pod for pod in found.pods if pod.is_ready or kind is SourceKind.REPORTER]
        pods.sort(key=lambda pod: not pod.own_url(self._environ))
        sources = [self._source(pod_fetcher.PodFetcher(api, pod)) for pod in pods]
        own = pods[0].own_url(self._environ) if pods else ""
        if own:
            sources[0] = self._source(UrlFetcher(own, self._access.authorization))
        why = NONE_READY if found.pods else found.why
        source, why = await find_answering(sources, self._target, why)
        if own:
            # The others share the connection to the API server.
            await (api if source is sources[0] else sources[0]).close()
        return source, why

    def _source(self, fetcher: StatusFetcher) -> HttpSource[Target, StatusAnswer]:
        timeout = self._access.request_timeout
        return HttpSource(fetcher, request_of, read_answer, answer_timeout=timeout)

    async def _find_pods(self, api: RestClient) -> FoundPods:
        try:
            pods = await find_pods_of_one(api, self._arguments, pod_fetcher.REPORTER)
        except PodsNotFound as err:
            return FoundPods((), str(err))
        return FoundPods(pods, "" if pods else NO_PODS)

    async def load_of_cluster(self, api: RestClient) -> FoundConfiguration:
        """
        Load the configuration with the flags of the cluster's reporter; without one, with the user's alone.

        A note names the pod that has the flags, another one why silences were not read. The caller notes
        *missing_files*. Raises SettingsError or StatusQueryFailed.
        """
        found = await self._find_pods(api)
        if not found.pods:
            return FoundConfiguration(*self._loader.load(), (), "", ())
        pod = found.pods[0]
        flags, files = evaluation_flags(pod), files_of(pod)
        loaded = self._loader.load_found(flags, f"pod {pod}")
        silences, why = await _read_silences(api, pod)
        if why:
            self._note(why)
            files = (*files, SILENCE_FILE)
        text = silences.text if silences is not None else ""
        return FoundConfiguration(*loaded, flags, text, files)

    async def _cluster(self, api: RestClient, found: FoundPods) -> StatusSource:
        pod = found.pods[0] if found.pods else None
        flags, files = (evaluation_flags(pod), files_of(pod)) if pod is not None else ((), ())
        settings, catalogue = self._loader.load_found(flags, f"pod {pod}", files)
        given = (api, settings, catalogue, self._clock)
        silence_file = await self._silence_file(api, pod, settings)
        if not self._watches:
            return ClusterSource(*given, on_progress=self._on_progress, silence_file=silence_file)
        from reporter.status.watching import WatchingSource  # noqa: PLC0415

        return WatchingSource(*given, on_progress=self._on_progress, silence_file=silence_file)

    async def _silence_file(
        self, api: RestClient, pod: pod_fetcher.ReporterPod | None, settings: Settings
    ) -> SilenceFile | None:
        """Return the file of silences of a reporter; None without one, and if it cannot be read."""
        if pod is None or settings.silence_file is not None:
            return None
        found, why = await _read_silences(api, pod)
        if why:
            self._note(f"{why}; --{SILENCE_FILE} gives it")
        return parse_mounted(found) if found is not None else None
