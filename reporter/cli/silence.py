"""The command ``silence``: print a silence or write it, list those that are written, and end one."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

import yaml
from msgspec.structs import replace

from reporter import PROGRAM_NAME
from reporter.catalogue.silence_edit import annotations, file_entry
from reporter.cli import command
from reporter.cli.configuration import load_configuration
from reporter.cli.output import ExitCode, ListFormat, Terminal
from reporter.cli.source_arguments import parse_target
from reporter.evaluation.silencing import check_silence, parse_until
from reporter.model.enums import Layer
from reporter.model.silences import SilenceState, SilenceText
from reporter.model.subjects import Subject, is_qualified
from reporter.model.times import DURATION_PATTERN, format_time, parse_units
from reporter.process.clock import Clock
from reporter.process.imports import uncollected_imports
from reporter.settings import Arguments, Flag, SettingsError
from reporter.snapshot.subjects import Subjects
from reporter.status.source import Target


LIST, EXPIRE = "list", "expire"
"""Words in the place of a subject. A namespace of that name is one with --until, as each silence has."""

WRITES = ("until", "why", "by", "apply", "replace", "file")
"""The flags of a silence that is written."""


def _run(arguments: Arguments, environ: Mapping[str, str]) -> int:
    word = arguments.names[0] if arguments.names and not arguments.values["until"] else ""
    if word == LIST:
        _refuse(arguments, WRITES, word)
        with uncollected_imports():
            from reporter.cli.silence_list import run_list  # noqa: PLC0415

        return run_list(arguments, arguments.names[1:], environ)
    if word == EXPIRE:
        _refuse(arguments, (*WRITES, "output", "from"), word)
        with uncollected_imports():
            from reporter.cli.silence_changes import run_expire  # noqa: PLC0415

        return run_expire(arguments, arguments.names[1:], environ)
    _refuse(arguments, ("output", "from"), "a silence that is written")
    return _run_silence(arguments, environ)


def _refuse(arguments: Arguments, names: Sequence[str], word: str) -> None:
    """Raise SettingsError for a flag that has no effect."""
    for flag in SILENCE.flags:
        if flag.name in names and arguments.values[flag.name] != flag.default:
            raise SettingsError(f"--{flag.name}", f"does not apply to {word}")


def _run_silence(arguments: Arguments, environ: Mapping[str, str]) -> int:
    names = arguments.names
    if len(names) != len(("subject", "reasons")):
        raise SettingsError("", "name what to silence: NS, NS/SET or cluster, then the reasons")
    target = parse_target(names[:1], arguments.values["namespace"])
    settings, catalogue = load_configuration(arguments.run_flags, environ)
    now, terminal = Clock().now(), Terminal(environ, arguments)
    text = _written(arguments, target, names[1], now=now)
    subject = Subject(_layer_of(target), target.namespace, target.name)
    found = check_silence(text, catalogue, Subjects(frozenset({subject})), unchecked=(), now=now)
    if found.state is SilenceState.EXPIRED:
        raise SettingsError(f"--until={arguments.values['until']}", "is over already")
    if found.state is not SilenceState.ACTIVE:
        raise SettingsError("", found.problem)
    text = replace(
        text, by=arguments.values["by"] or environ.get("USER", "") or _ask_who(terminal)
    )
    is_for_file = _is_for_file(arguments, target)
    if arguments.is_set("apply"):
        with uncollected_imports():
            from reporter.cli.event_loop import run_asking  # noqa: PLC0415
            from reporter.cli.silence_changes import SilenceWriter  # noqa: PLC0415

        writer = SilenceWriter(arguments, settings, terminal, environ)
        apply = writer.apply_to_file if is_for_file else writer.apply_to_object
        return run_asking(apply(text), terminal)
    manifest = {"silences": [file_entry(text)]} if is_for_file else annotations(text)
    terminal.print(yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True).rstrip())
    return ExitCode.MET


def _ask_who(terminal: Terminal) -> str:
    """Return who silences, as the user of a terminal answers. Raises SettingsError for no answer."""
    name = terminal.ask("Who silences? ")
    if not name:
        raise SettingsError(
            "--by", "is needed: who silences, as the variable USER does not say it"
        )
    return name


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
    *,
    now: datetime,
) -> SilenceText:
    for name in ("until", "why"):
        if not arguments.values[name]:
            raise SettingsError(
                f"--{name}", "is needed: name the end of the silence (--until), and why"
            )
    return SilenceText(
        "this silence",
        target.namespace,
        target.name,
        tuple(each.strip() for each in reasons.split(",")),
        _until(arguments.values["until"], now=now),
        arguments.values["why"],
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


SILENCE = command.Command(
    run=_run,
    summary="Hold back the findings of a reason until a time.",
    usage="silence SUBJECT REASON[,REASON] [FLAGS]",
    further_usage=(
        f"{PROGRAM_NAME} silence list [SUBJECT] [-o json]",
        f"{PROGRAM_NAME} silence expire SUBJECT [REASON[,REASON]]",
    ),
    about="""\
SUBJECT is NS, NS/SET or cluster. `all` stands for every reason. Recovery is
announced. Prints the annotations of the namespace or InferenceSet as YAML, for
  kubectl apply --server-side --field-manager=silence -f -
With --apply it writes them itself. For the cluster, and for NS/KIND/NAME, it
prints an entry for the file of silences; with --apply it adds that to the
ConfigMap that the reporter mounts. --until and --why are needed.

list shows who silences what, why, until when, and what that holds back now;
expire takes a silence back. See docs/silences.md.""",
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
            "silence cluster clusterKedaNotReady --until=2h --why=upgrade --apply",
            "one reason of the cluster, in the reporter's file of silences",
        ),
        ("silence list", "who silences what"),
        ("silence expire team-a/qwen", "end it before its time"),
    ),
    flags=(
        Flag(
            "until", "When it ends: a time such as 2026-12-01T00:00:00Z, or 90m from now.", "TIME"
        ),
        Flag("why", "Why; shown with the silence.", "TEXT"),
        Flag("by", "Who silences; empty: the variable USER, else it is asked for.", "NAME"),
        command.switch(
            "apply", "Write it, as annotations or into the file of silences, instead of printing."
        ),
        command.switch(
            "replace",
            "With --apply: replace all silences that the subject has there; each that ends is printed.",
        ),
        command.switch("file", "An entry of the file of silences instead of annotations."),
        command.output(ListFormat),
        Flag(
            "from",
            "Of list: cluster, or file:PATH, which is a dump.",
            "cluster|file:PATH",
            default="cluster",
        ),
        command.NAMESPACE,
        command.QUIET,
        *command.ACCESS,
    ),
    settings=command.EVALUATION_FLAGS,
    notes="""\
--kubeconfig names the kubeconfig, as for run.

Exit codes: 0 done, 1 not or only partly written, or no answer, 2 something
given is refused.""",
)
