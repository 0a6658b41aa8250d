"""Render the texts of ``--help``, and of ``--help-all`` with every flag."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from reporter import PROGRAM_NAME
from reporter.cli.command import WIDTH, Command
from reporter.settings import FLAGS, Flag, FlagGroup


DESCRIPTION = "Report as Kubernetes Events why a KAITO production stack does not serve."
OWN_HELP = f"{PROGRAM_NAME} COMMAND --help has the usage, examples and flags of one."
ALL_FLAGS = "--help-all has every flag of run and hub; docs/flags.md has them too."
MAIN_FLAGS = frozenset(
    {
        "kubeconfig",
        "packs",
        "catalogue-overlay",
        "components-file",
        "sources",
        "dry-run",
        "emission",
        "mirror-events",
        "silence-file",
        "startup-grace-seconds",
        "settle-seconds",
        "status-objects",
        "store",
        "leader-elect",
        "status-bind-address",
    }
)
"""The flags of ``run`` that people set, which ``--help`` has; of ``hub`` all of its own group as well."""

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


def render_help(commands: Mapping[str, Command], *, whole: bool = False) -> str:
    """Return the help of the program: all commands, and if *whole* every flag of ``run`` and ``hub``."""
    usage = "\n".join(f"  {PROGRAM_NAME} {each.usage}" for each in commands.values())
    summaries = "\n".join(_render_summary(*each) for each in commands.items())
    return "\n\n".join(
        (
            DESCRIPTION,
            f"Usage:\n{usage}",
            f"Commands:\n{summaries}",
            "\n".join(wrap(OWN_HELP, WIDTH)),
            *((*_render_groups(FLAGS), CLOSING) if whole else (ALL_FLAGS,)),
        )
    )


def render_command_help(command: Command, *, whole: bool = False) -> str:
    """
    Return the text of ``COMMAND --help``: summary, usage, examples, flags and notes.

    A command without notes lists the flags of Settings that it takes: if *whole* all, else those that
    people set.
    """
    taken = [flag for flag in FLAGS if flag.name in command.settings]
    shown = taken if whole else [flag for flag in taken if _is_main(flag)]
    more = _more_flags(len(taken) - len(shown))
    usage = (f"{PROGRAM_NAME} {command.usage}", *command.further_usage)
    parts = (
        "\n".join(wrap(command.summary, WIDTH)),
        "\n  ".join(("Usage:", *usage)),
        command.about,
        _render_examples(command),
        _render_flags("Flags", command.flags),
        *(
            (command.notes,)
            if command.notes
            else (*_render_groups(shown), more, CLOSING if taken else "")
        ),
    )
    return "\n\n".join(part for part in parts if part)


def _is_main(flag: Flag) -> bool:
    return flag.name in MAIN_FLAGS or flag.group is FlagGroup.HUB


def _more_flags(number: int) -> str:
    return f"--help-all has {number} more flags; docs/flags.md has them too." if number else ""


def _render_examples(command: Command) -> str:
    """Return the examples of a command, each with a line above it on what it does."""
    lines = (
        f"  # {what}\n  {_joined(f'{PROGRAM_NAME} {words}')}" for words, what in command.examples
    )
    return "\n".join(("Examples:", *lines))


def _joined(command: str) -> str:
    """Return a command whose lines a shell joins."""
    room = WIDTH - len("  ") - len(CONTINUATION)
    lines = wrap(command, room, break_long_words=False, break_on_hyphens=False)
    return f"{CONTINUATION}\n      ".join(lines)


def _render_summary(name: str, command: Command) -> str:
    head, indent = f"  {name}".ljust(NAME_WIDTH + 2), " " * (NAME_WIDTH + 2)
    return "\n".join(wrap(command.summary, WIDTH, initial_indent=head, subsequent_indent=indent))


def _render_groups(flags: Sequence[Flag]) -> Iterator[str]:
    for group in FlagGroup:
        yield _render_flags(group.value, [flag for flag in flags if flag.group is group])


def _render_flags(heading: str, flags: Sequence[Flag]) -> str:
    """Return a heading and its flags; empty without any."""
    lines = (line for flag in flags for line in _render_flag(flag))
    return "\n".join((f"{heading}:", *lines)) if flags else ""


def _render_flag(flag: Flag) -> Iterator[str]:
    """Yield what a flag of Settings is by default, and what the value of another is."""
    short = f"-{flag.short}, " if flag.short else ""
    value = flag.default if flag.group else flag.value_text
    text = flag.help
    if not flag.group and flag.default and not flag.is_boolean:
        text += f" Default: {flag.default}."
    yield f"  {short}--{flag.name}{f'={value}' if value or flag.group else ''}"
    yield from wrap(text, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
