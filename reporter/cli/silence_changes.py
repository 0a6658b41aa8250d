"""Write a silence, and take it back: as annotations of an object, or in the reporter's file of silences."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager

from reporter.catalogue.silence_edit import (
    file_entry,
    silence_fields,
    with_silence,
    without_silences,
)
from reporter.catalogue.silence_file import SILENCE_FILE
from reporter.cli.cluster_opener import ClusterAccess, find_pods_of_one
from reporter.cli.configuration import load_configuration
from reporter.cli.event_loop import run_asking
from reporter.cli.output import ExitCode, Terminal
from reporter.cli.source_arguments import parse_target
from reporter.kinds.core import NAMESPACES
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kinds.resource_kind import SILENCE_PREFIX
from reporter.kube.client import RestClient
from reporter.kube.config_maps import ConfigMapText, write_text
from reporter.kube.errors import KubeError
from reporter.kube.silences import (
    SilencedObject,
    end_silence,
    read_silenced_object,
    silence_object,
)
from reporter.model.silences import SilenceFile, SilenceText
from reporter.model.subjects import is_qualified
from reporter.process.clock import Clock
from reporter.settings import Arguments, Settings, SettingsError
from reporter.status import pod_fetcher
from reporter.status.mounted_silences import parse_mounted, read_mounted
from reporter.status.source import StatusQueryFailed, Target


HELM = "Helm"
"""The tool that a ConfigMap of the chart names as its manager."""


class NoSilenceFile(StatusQueryFailed):
    """The error for a cluster whose reporter has no file of silences, so that no silence is in one."""


class SilenceStays(StatusQueryFailed):
    """The error for a silence that was found and could not be ended."""


class SilenceWriter:
    """Writes silences, and takes them back, in the cluster that a command line names."""

    def __init__(
        self,
        arguments: Arguments,
        settings: Settings,
        terminal: Terminal,
        environ: Mapping[str, str],
    ) -> None:
        self._arguments, self._settings, self._terminal = arguments, settings, terminal
        self._access = ClusterAccess(arguments, environ, Clock())

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[RestClient]:
        api = await self._access.connect(self._settings)
        try:
            yield api
        except KubeError as err:
            raise StatusQueryFailed(str(err)) from err
        finally:
            await api.close()

    async def apply_to_object(self, text: SilenceText) -> int:
        """
        Annotate the namespace or InferenceSet of a silence, and return the exit code.

        That is NO_ANSWER if it has a silence already and ``--replace`` is not given, or has one in labels.
        Raises StatusQueryFailed if it cannot be read or written.
        """
        async with self._connected() as api:
            found = await _read_object(api, Target(text.namespace, text.inferenceset))
            refusal = _why_refused(found, replace=self._arguments.is_set("replace"))
            if refusal:
                self._terminal.error(f"{_object_name(text)} {refusal}")
                return ExitCode.NO_ANSWER
            await silence_object(api, found, silence_fields(text))
        name, reasons = _object_name(text), ", ".join(text.reasons)
        if found.annotations:
            self._terminal.print(f"{name}: silence ended: {_describe(found.annotations)}")
        self._terminal.print(f"{name} silenced: {reasons} until {text.until}")
        return ExitCode.MET

    async def apply_to_file(self, text: SilenceText) -> int:
        """
        Add a silence to the ConfigMap that the reporter mounts, and return the exit code MET.

        With ``--replace`` it takes the place of all of the same subject. Raises StatusQueryFailed.
        """
        async with self._connected() as api:
            try:
                found, file = await self._find_file(api)
                subject = Target(text.namespace, text.inferenceset)
                replaced = _places(file, subject) if self._arguments.is_set("replace") else []
                kept = without_silences(found.text, replaced)
                await _write_file(api, found, with_silence(kept, file_entry(text)))
            except StatusQueryFailed as err:
                raise StatusQueryFailed(
                    f"{err}; without --apply the entry is printed for it"
                ) from err
        self._say_ended(found, file, replaced)
        scope = "/".join(filter(None, (text.namespace, text.inferenceset))) or "cluster"
        reasons = ", ".join(text.reasons)
        self._terminal.print(f"{found} changed: {scope} silenced: {reasons} until {text.until}")
        self._terminal.note("the reporter reads it once the kubelet has brought it into its pods")
        return ExitCode.MET

    async def expire(self, target: Target, reasons: frozenset[str]) -> int:
        """
        End the silences of a subject, on its object and in the file, and return the exit code.

        *reasons*: only silences of no other reasons end; empty for all. The code is MET if one has ended
        and each that was found has; else NO_ANSWER. Errors of the API server are printed, and not raised.
        """
        failed: list[Exception] = []
        ended = 0
        async with self._connected() as api:
            if not target.is_cluster and not is_qualified(target.name):
                try:
                    ended += await self._expire_object(api, target, reasons)
                except (StatusQueryFailed, KubeError) as err:
                    self._terminal.error(str(err))
                    failed.append(err)
            try:
                ended += await self._expire_in_file(api, target, reasons)
            except NoSilenceFile:
                pass
            except (StatusQueryFailed, KubeError) as err:
                self._terminal.error(f"nothing was ended in the file of silences: {err}")
                failed.append(err)
        if not ended and not failed:
            which = f" of {', '.join(sorted(reasons))} alone" if reasons else ""
            self._terminal.error(f"{target} has no silence{which}")
        is_done = ended and not any(isinstance(each, SilenceStays) for each in failed)
        return ExitCode.MET if is_done else ExitCode.NO_ANSWER

    async def _expire_object(
        self, api: RestClient, target: Target, reasons: frozenset[str]
    ) -> int:
        found = await _read_object(api, target)
        fields: Mapping[str, str] = {**found.labels, **found.annotations}
        if not fields or not _is_of(reasons, _reasons(fields.get("reasons", ""))):
            return 0
        with _ending():
            await end_silence(api, found)
        kind = INFERENCE_SETS if target.name else NAMESPACES
        self._terminal.print(f"{kind.kind} {target}: silence ended: {_describe(fields)}")
        return 1

    async def _expire_in_file(
        self, api: RestClient, target: Target, reasons: frozenset[str]
    ) -> int:
        found, file = await self._find_file(api)
        places = [p for p in _places(file, target) if _is_of(reasons, file.silences[p].reasons)]
        if not places:
            return 0
        with _ending():
            await _write_file(api, found, without_silences(found.text, places))
        self._say_ended(found, file, places)
        return len(places)

    async def _find_file(self, api: RestClient) -> tuple[ConfigMapText, SilenceFile]:
        """
        Return the text of the ConfigMap that the reporter mounts, and the silences in it.

        Raises NoSilenceFile without one, StatusQueryFailed for a file that cannot be read or changed, and
        KubeError.
        """
        pods = await find_pods_of_one(api, self._arguments, pod_fetcher.REPORTER)
        if not pods:
            raise NoSilenceFile(f"no pod has the label {pod_fetcher.SELECTOR}")
        pod = pods[0]
        if SILENCE_FILE not in pod.flags:
            raise NoSilenceFile(
                f"the reporter in pod {pod} has no file of silences: give it --silence-file in a"
                " ConfigMap, as the chart does"
            )
        found = await read_mounted(api, pod)
        if found is None:
            raise StatusQueryFailed(f"the file of silences of pod {pod} is in no ConfigMap")
        file = parse_mounted(found)
        if file.problem:
            raise StatusQueryFailed(
                f"{found} cannot be read, so it silences nothing: {file.problem}"
            )
        return found, file

    def _say_ended(self, found: ConfigMapText, file: SilenceFile, places: Sequence[int]) -> None:
        for place in places:
            ended = _describe(silence_fields(file.silences[place]))
            self._terminal.print(f"{found}: silence ended: {ended}")


def run_expire(arguments: Arguments, names: Sequence[str], environ: Mapping[str, str]) -> int:
    """
    Run ``silence expire`` for the subject and the reasons in *names*, and return the exit code.

    Raises SettingsError.
    """
    if not 0 < len(names) <= len(("subject", "reasons")):
        raise SettingsError(
            "", "name whose silences end: NS, NS/SET or cluster, and reasons or none"
        )
    target = parse_target(names[:1], arguments.values["namespace"])
    named = names[1] if len(names) > 1 else ""
    reasons = frozenset(filter(None, (each.strip() for each in named.split(","))))
    settings, _ = load_configuration(arguments.run_flags, environ)
    terminal = Terminal(environ, arguments)
    writer = SilenceWriter(arguments, settings, terminal, environ)
    return run_asking(writer.expire(target, reasons), terminal)


@contextmanager
def _ending() -> Iterator[None]:
    """Raise SilenceStays for an error of the change that ends a silence."""
    try:
        yield
    except (StatusQueryFailed, KubeError) as err:
        raise SilenceStays(str(err)) from err


async def _read_object(api: RestClient, target: Target) -> SilencedObject:
    kind = INFERENCE_SETS if target.name else NAMESPACES
    namespace = target.namespace if target.name else ""
    return await read_silenced_object(api, kind, namespace, target.name or target.namespace)


def _object_name(text: SilenceText) -> str:
    kind = INFERENCE_SETS if text.inferenceset else NAMESPACES
    return f"{kind.kind} {text.inferenceset or text.namespace}"


def _why_refused(found: SilencedObject, *, replace: bool) -> str:
    if found.labels:
        names = ", ".join(sorted(SILENCE_PREFIX + each for each in found.labels))
        return f"has a silence in labels ({names}); remove these labels first"
    if found.annotations and not replace:
        shown = ", ".join(f"{name} {value}" for name, value in sorted(found.annotations.items()))
        return f"has a silence already ({shown}); --replace ends that one"
    return ""


async def _write_file(api: RestClient, found: ConfigMapText, text: str) -> None:
    """
    Change the file. Raises StatusQueryFailed for one that Helm renders, as an upgrade undoes the change.
    """
    if found.managed_by == HELM:
        raise StatusQueryFailed(
            f"{found} is rendered by Helm, whose next upgrade undoes a change: change silences in the"
            " values of the chart instead"
        )
    await write_text(api, found, text)


def _places(file: SilenceFile, target: Target) -> list[int]:
    """
    Return which entries of the file are about a subject, and no other one, counted from 0.

    A malformed one silences nothing, and whose it was meant to be is not known.
    """
    return [
        place
        for place, each in enumerate(file.silences)
        if (each.namespace, each.inferenceset) == (target.namespace, target.name)
        and not each.problem
    ]


def _is_of(wanted: frozenset[str], reasons: Sequence[str]) -> bool:
    """Return whether a silence is of the wanted reasons alone; of any, if none is named."""
    return not wanted or wanted.issuperset(reasons)


def _reasons(text: str) -> list[str]:
    return [each.strip() for each in text.replace(".", ",").split(",")]


def _describe(fields: Mapping[str, str]) -> str:
    """Return a silence in words: its reasons, its end, who wrote it and why."""
    forms = {"reasons": "{}", "until": "until {}", "by": "by {}", "why": "({})"}
    return " ".join(form.format(fields[name]) for name, form in forms.items() if fields.get(name))
