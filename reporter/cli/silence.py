"""The command ``silence``: write a silence, or print it."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import yaml

from reporter.cli import command
from reporter.cli.asking import ExitCode, Terminal, run_asking
from reporter.cli.configuration import load_configuration
from reporter.cli.source_arguments import parse_target
from reporter.cli.sources import ClusterAccess
from reporter.evaluation.silencing import check_silence, parse_until
from reporter.kinds.core import NAMESPACES
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kinds.resource_kind import SILENCE_PREFIX
from reporter.kube.errors import KubeError
from reporter.kube.silences import read_silenced_object, silence_object
from reporter.model.enums import Layer
from reporter.model.silences import SilenceState, SilenceText
from reporter.model.subjects import Subject, is_qualified
from reporter.model.times import DURATION_PATTERN, format_time, parse_units
from reporter.process.clock import Clock
from reporter.settings import Arguments, Flag, Settings, SettingsError
from reporter.snapshot.subjects import Subjects
from reporter.status.source import StatusQueryFailed, Target


def _run(arguments: Arguments, environ: Mapping[str, str]) -> int:
    names = arguments.names
    if len(names) != len(("subject", "reasons")):
        raise SettingsError("", "name what to silence: NS, NS/SET or cluster, then the reasons")
    target = parse_target(names[:1], arguments.values["namespace"])
    settings, catalogue = load_configuration(arguments.run_flags, environ)
    now = Clock().now()
    text = _written(arguments, target, names[1], environ, now=now)
    subject = Subject(_layer_of(target), target.namespace, target.name)
    found = check_silence(text, catalogue, Subjects(frozenset({subject})), idle=(), now=now)
    if found.state is SilenceState.EXPIRED:
        raise SettingsError(f"--until={arguments.values['until']}", "is over already")
    if found.state is not SilenceState.ACTIVE:
        raise SettingsError("", found.problem)
    terminal = Terminal(environ)
    if arguments.is_set("apply"):
        access = ClusterAccess(arguments, environ, Clock())
        return run_asking(_apply(arguments, text, settings, terminal, access), terminal)
    manifest = file_entry(text) if _is_for_file(arguments, target) else annotations(text)
    terminal.print(yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True).rstrip())
    return ExitCode.MET


def _layer_of(target: Target) -> Layer:
    if target.is_cluster:
        return Layer.CLUSTER
    return Layer.MODELDEPLOYMENT if target.name else Layer.MODELHARNESS


def _is_for_file(arguments: Arguments, target: Target) -> bool:
    """
    Return whether it is asked for as an entry of the file, or has no object that could be annotated.
    """
    return arguments.is_set("file") or target.is_cluster or is_qualified(target.name)


def _written(
    arguments: Arguments,
    target: Target,
    reasons: str,
    environ: Mapping[str, str],
    *,
    now: datetime,
) -> SilenceText:
    for name in ("until", "why"):
        if not arguments.values[name]:
            raise SettingsError(
                f"--{name}", "is needed: name the end of the silence (--until), and why"
            )
    if arguments.is_set("apply") and _is_for_file(arguments, target):
        raise SettingsError(
            "--apply",
            "annotates a namespace or an InferenceSet; for others add the printed entry to the file",
        )
    return SilenceText(
        "this silence",
        target.namespace,
        target.name,
        tuple(each.strip() for each in reasons.split(",")),
        _until(arguments.values["until"], now=now),
        arguments.values["why"],
        arguments.values["by"] or environ.get("USER", ""),
    )


def _until(text: str, *, now: datetime) -> str:
    """
    Return the time at which a silence ends. Raises SettingsError.

    A number alone is refused: it could be seconds, or a year, or a day.
    """
    if text and re.match(DURATION_PATTERN, text) and text == text.strip():
        moment: datetime | None = now + parse_units(text)
    else:
        moment = parse_until(text)
    if moment is None:
        raise SettingsError(
            f"--until={text}",
            "must be a time such as 2026-12-01T00:00:00Z or 2026-12-01, or a duration from now with its"
            " unit, such as 90m",
        )
    return format_time(moment)


def _fields(text: SilenceText) -> dict[str, str]:
    """Return the silence as annotations, by what follows the prefix."""
    fields = {
        "until": text.until,
        "reasons": ",".join(text.reasons),
        "why": text.why,
        "by": text.by,
    }
    return {name: value for name, value in fields.items() if value}


def annotations(text: SilenceText) -> dict[str, Any]:
    """Return the silence as a manifest: a Namespace or an InferenceSet with its annotations alone."""
    values = {SILENCE_PREFIX + name: value for name, value in _fields(text).items()}
    kind = INFERENCE_SETS if text.inferenceset else NAMESPACES
    place = {"namespace": text.namespace} if text.inferenceset else {}
    return {
        "apiVersion": "/".join(filter(None, (kind.group, kind.versions[0]))),
        "kind": kind.kind,
        "metadata": {
            **place,
            "name": text.inferenceset or text.namespace,
            "annotations": values,
        },
    }


def file_entry(text: SilenceText) -> dict[str, Any]:
    """
    Return the silence as the content of a silence file that has this one entry; empty keys are left out.
    """
    place = {"namespace": text.namespace, "inferenceset": text.inferenceset}
    entry = {**place, **_fields(text), "reasons": list(text.reasons)}
    return {"silences": [{name: value for name, value in entry.items() if value}]}


async def _apply(
    arguments: Arguments,
    text: SilenceText,
    settings: Settings,
    terminal: Terminal,
    access: ClusterAccess,
) -> int:
    kind = INFERENCE_SETS if text.inferenceset else NAMESPACES
    namespace = text.namespace if text.inferenceset else ""
    name = text.inferenceset or text.namespace
    api = await access.connect(settings)
    try:
        found = await read_silenced_object(api, kind, namespace, name)
        refusal = _why_refused(
            found.labels, found.annotations, replace=arguments.is_set("replace")
        )
        if refusal:
            terminal.error(f"{kind.kind} {name} {refusal}")
            return ExitCode.NO_ANSWER
        await silence_object(api, found, _fields(text))
    except KubeError as err:
        raise StatusQueryFailed(str(err)) from err
    finally:
        await api.close()
    terminal.print(f"{kind.kind} {name} silenced: {', '.join(text.reasons)} until {text.until}")
    return ExitCode.MET


def _why_refused(labels: Mapping[str, str], present: Mapping[str, str], *, replace: bool) -> str:
    if labels:
        names = ", ".join(sorted(SILENCE_PREFIX + each for each in labels))
        return f"has a silence in labels ({names}); remove these labels first"
    if present and not replace:
        shown = ", ".join(f"{name} {value}" for name, value in sorted(present.items()))
        return f"has a silence already ({shown}); --replace ends that one"
    return ""


SILENCE = command.Command(
    run=_run,
    summary="Hold back the findings of a reason until a time.",
    usage="silence SUBJECT REASON[,REASON] [FLAGS]",
    about="""\
SUBJECT is NS, NS/SET or cluster. `all` stands for every reason. Recovery is
announced. Prints the annotations of the namespace or InferenceSet as YAML, for
  kubectl apply --server-side --field-manager=silence -f -
With --apply it writes them itself. For the cluster, and for NS/KIND/NAME, it
prints an entry for the file of silences. --until and --why are needed. See
docs/silences.md.""",
    examples=(
        (
            "silence team-a/qwen inferencesetModelPodsNotReady --until=90m --why=maintenance --apply",
            "one reason of one InferenceSet",
        ),
        (
            "silence team-a all --until=2026-12-01 --why=maintenance",
            "the annotations to apply",
        ),
        (
            "silence cluster clusterKedaNotReady --until=2h --why=upgrade",
            "an entry for the file of silences",
        ),
    ),
    flags=(
        Flag(
            "until", "When it ends: a time such as 2026-12-01T00:00:00Z, or 90m from now.", "TIME"
        ),
        Flag("why", "Why; shown with the silence.", "TEXT"),
        Flag("by", "Who silences; empty: the name of the user of this machine.", "NAME"),
        command.switch("apply", "Annotate the namespace or InferenceSet, instead of printing."),
        command.switch("replace", "With --apply: replace the silence that the object has."),
        command.switch("file", "Print an entry of the file of silences instead of annotations."),
        command.NAMESPACE,
        command.CONTEXT,
        command.AS,
        command.REQUEST_TIMEOUT,
    ),
    settings=command.EVALUATION_FLAGS,
    notes="""\
--kubeconfig names the kubeconfig, as for run.

Exit codes: 0 printed or written, 1 not written, 2 something given is refused.""",
)
