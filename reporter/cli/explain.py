"""The command ``explain``."""

from collections.abc import Iterator, Mapping, Sequence

from reporter import PROGRAM_NAME
from reporter.catalogue.loader import default_folder
from reporter.catalogue.overlay import shipped_packs
from reporter.cli import command
from reporter.cli.configuration import load_configuration
from reporter.cli.output import ExitCode, Terminal
from reporter.cli.source_arguments import parse_target
from reporter.cli.source_opener import source_opener
from reporter.model.enums import Reason
from reporter.model.suggest import find_similar
from reporter.process.imports import uncollected_imports
from reporter.settings import Arguments, SettingsError
from reporter.status import detail_table
from reporter.status.entry_table import EntryText
from reporter.status.source import StatusAnswer, Target
from reporter.status.summary import Summary, describe_missing, summarize


OVERLAY, PACKS = "catalogue-overlay", "packs"
"""The flags of run that shape the texts, wherever the status comes from."""


def _run(arguments: Arguments, environ: Mapping[str, str]) -> int:
    if not arguments.names and not arguments.values["namespace"]:
        raise SettingsError("", "name what to explain: a reason, NS, NS/SET or cluster")
    texts, reasons = load_texts(arguments, environ)
    reason = find_reason(arguments.names, reasons)
    if reason is not None:
        print("\n".join(texts.render(reason)))
        return ExitCode.MET
    with uncollected_imports():
        from reporter.cli.event_loop import run_asking  # noqa: PLC0415  a reason needs none

    target = parse_target(arguments.names, arguments.values["namespace"])
    terminal = Terminal(environ, arguments)
    return run_asking(_explain(arguments, target, texts, terminal, environ), terminal)


def find_reason(names: Sequence[str], reasons: Sequence[str]) -> Reason | None:
    """
    Return the reason that is named; None for the name of a subject: in small letters, or with a slash.

    *reasons*: those of the catalogue; upper and lower case do not matter. Raises SettingsError for a name
    that is neither, with a similar reason or the pack that has it.
    """
    name = names[0] if len(names) == 1 else ""
    by_lower = {reason.lower(): reason for reason in reasons}
    if name.lower() in by_lower:
        return Reason(by_lower[name.lower()])
    if name == name.lower() or "/" in name:
        return None
    from reporter.catalogue.reason_reference import read_entries  # noqa: PLC0415

    for pack in shipped_packs(default_folder()):
        if name in {entry.reason for entry in read_entries(default_folder(), [pack])}:
            raise SettingsError("", f"{name} is a reason of the pack {pack}; add --packs={pack}")
    similar = find_similar(name.lower(), by_lower)
    offer = f"did you mean {by_lower[similar]}?" if similar else "check-config lists all"
    raise SettingsError("", f"there is no reason {name}; {offer}")


def load_texts(
    arguments: Arguments, environ: Mapping[str, str]
) -> tuple[EntryText, Sequence[str]]:
    """
    Return the texts about reasons, and the names of all reasons of the catalogue in effect.

    The catalogue is that of the flags ``--packs`` and ``--catalogue-overlay``. Raises SettingsError for
    one that is refused.
    """
    settings, catalogue = load_configuration(arguments.run_flags, environ)
    return EntryText(catalogue, grace=settings.startup_grace), tuple(catalogue.entries)


async def _explain(
    arguments: Arguments,
    target: Target,
    texts: EntryText,
    terminal: Terminal,
    environ: Mapping[str, str],
) -> int:
    open_source = source_opener(arguments, target, environ, terminal, used={OVERLAY, PACKS})
    source = await open_source()
    try:
        answer = await source.ask(target)
    finally:
        await source.close()
    for note in answer.notes:
        terminal.note(note)
    if answer.document is None:
        terminal.error(f"not found: {describe_missing(answer, target)}")
        return ExitCode.NO_ANSWER
    terminal.print("\n".join(_lines(answer, target, summarize(answer, target), texts)))
    return ExitCode.MET


def _lines(
    answer: StatusAnswer, target: Target, summary: Summary, texts: EntryText
) -> Iterator[str]:
    yield detail_table.field("Subject", str(target))
    yield detail_table.field("State", summary.state.word)
    blocking = summary.blocking
    if target.namespace:
        yield from detail_table.render_availability(
            summary.available, summary.not_available, summary.answered_seconds, blocking=blocking
        )
    if blocking is None:
        yield from _lines_without_blocking(summary, texts)
        return
    yield from detail_table.render_blocking(blocking, with_chain=False)
    yield from detail_table.render_suppressed(summary.suppressed)
    if not blocking.reason:
        return
    if blocking.via:
        yield ""
        yield from texts.render_chain((*blocking.via, blocking.reason))
    yield ""
    yield from texts.meaning(blocking.reason)
    yield f"{PROGRAM_NAME} explain {blocking.reason} has what to do."


def _lines_without_blocking(summary: Summary, texts: EntryText) -> Iterator[str]:
    """Yield what to read about a cause that lies on the path of requests alone."""
    cause = summary.not_available
    if cause is None or not cause.reason:
        yield "Nothing blocks it."
        return
    yield ""
    yield from texts.meaning(cause.reason)
    yield f"{PROGRAM_NAME} explain {cause.reason} has what to do."


EXPLAIN = command.Command(
    run=_run,
    summary="Explain a reason, or what blocks a subject.",
    usage="explain REASON | NS[/SET] | cluster [FLAGS]",
    about="""\
Of a reason: what it means, its layer and rank, how long it is held, who must
act, what to do, what it suppresses and what suppresses it. Of a subject: what
blocks it, and the chain from the symptom to its root, with why each step
follows.""",
    examples=(
        ("explain clusterBBRNotReady", "what it means, and what to do"),
        ("explain -n team-a qwen", "why it is not Ready"),
    ),
    flags=(command.NAMESPACE, command.QUIET, command.FROM, command.AT, *command.ACCESS),
    settings=command.EVALUATION_FLAGS,
    notes=f"""\
{command.RUN_FLAGS_NOTE}

Exit codes: 0 explained, 1 no answer or no such subject, 2 something given is
refused or there is no such reason.""",
)
