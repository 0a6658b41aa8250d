"""Render the text of ``--help``."""

from collections.abc import Iterable, Iterator
from textwrap import wrap

from reporter import PROGRAM_NAME
from reporter.cli.arguments import WIDTH, render_flags
from reporter.cli.command_specs import COMMAND_SPECS, CommandSpec
from reporter.settings import FLAGS, Flag, FlagGroup


DESCRIPTION = "Report as Kubernetes Events why a KAITO production stack does not serve."
OWN_HELP = f"{PROGRAM_NAME} COMMAND --help has the usage, examples and flags of one."
NAME_WIDTH = 14
CONTINUATION = " \\"
CLOSING = """\
Flags start with one dash or two: --flag=value. A boolean flag needs no value:
--leader-elect means --leader-elect=true. A time is a number of seconds, 90, or
has units: 90s, 10m, 1h30m.

Each flag can be set by an environment variable too: --resync-seconds by
STATUS_REPORTER_RESYNC_SECONDS. The flag wins. Three more variables:
  POD_NAME         Name of the pod; its Events carry it.
  POD_NAMESPACE    Namespace of the Lease.
  DEPLOYMENT_NAME  Deployment that owns the Lease, so that both are deleted
                   together.

Exit codes: 0 stopped as requested, 1 failed, 2 configuration refused."""


def render_help() -> str:
    """Return the help of the program: all commands, and every flag of ``run`` and ``hub``."""
    usage = "\n".join(f"  {PROGRAM_NAME} {spec.usage}" for spec in COMMAND_SPECS.values())
    commands = "\n".join(
        line for name, spec in COMMAND_SPECS.items() for line in _render_summary(name, spec)
    )
    return "\n\n".join(
        (
            DESCRIPTION,
            f"Usage:\n{usage}",
            f"Commands:\n{commands}",
            "\n".join(wrap(OWN_HELP, WIDTH)),
            *(_render_group(group, FLAGS) for group in FlagGroup),
            CLOSING,
        )
    )


def render_command_help(name: str) -> str:
    """Return the help of one command, from its declaration."""
    spec = COMMAND_SPECS[name]
    taken = [flag for flag in FLAGS if flag.name in spec.settings]
    groups = [group for group in FlagGroup if any(flag.group is group for flag in taken)]
    return "\n\n".join(
        (
            "\n".join(wrap(spec.summary, WIDTH)),
            f"Usage:\n  {PROGRAM_NAME} {spec.usage}",
            render_examples(name),
            *((render_flags(spec.flags),) if spec.flags else ()),
            *(_render_group(group, taken) for group in groups),
            *((CLOSING,) if taken else ()),
        )
    )


def render_examples(name: str) -> str:
    """Return the examples of a command, each with a line above it on what it does."""
    lines = (
        f"  # {what}\n  {_joined(f'{PROGRAM_NAME} {words}')}"
        for words, what in COMMAND_SPECS[name].examples
    )
    return "\n".join(("Examples:", *lines))


def _joined(command: str) -> str:
    """Return a command whose lines a shell joins."""
    room = WIDTH - len("  ") - len(CONTINUATION)
    lines = wrap(command, room, break_long_words=False, break_on_hyphens=False)
    return f"{CONTINUATION}\n      ".join(lines)


def _render_summary(name: str, spec: CommandSpec) -> Iterator[str]:
    head = f"  {name}".ljust(NAME_WIDTH + 2)
    yield from wrap(
        spec.summary, WIDTH, initial_indent=head, subsequent_indent=" " * (NAME_WIDTH + 2)
    )


def _render_group(group: FlagGroup, flags: Iterable[Flag]) -> str:
    lines = [line for flag in flags if flag.group is group for line in _render_flag(flag)]
    return "\n".join((f"{group.value}:", *lines))


def _render_flag(flag: Flag) -> Iterator[str]:
    yield f"  --{flag.name}={flag.default}"
    yield from wrap(flag.help, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
