"""The declaration of a command, the list of all, and the flags that several have."""

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from importlib import import_module

from msgspec import Struct

from reporter.process.imports import uncollected_imports
from reporter.settings import FLAGS, Arguments, Flag, SettingsError, TakenBy, parse_arguments
from reporter.settings.parsers import (
    choice_parser,
    parse_any_duration,
    parse_boolean,
    parse_optional_moment,
)


NONE: frozenset[str] = frozenset()
WIDTH = 80
"""The columns of ``--help``."""


class Command(Struct, frozen=True, kw_only=True):
    """
    A command: the function that runs it, and what ``--help``, docs/commands.md and shells know of it.

    *usage* and *examples* begin after the program's name; an example has a line on what it does.
    *further_usage*: more lines, which begin with a program's name. *about* stands before the examples.
    *notes* stand after the flags; without them the flags of Settings are listed. *flags*: its own.
    *settings*: names of the flags of Settings that it takes. *values*: what its argument may be, if that
    is a closed set. *takes_names*: it takes arguments that are no flags. *hint*: the end of the refusal of
    a flag of Settings that it does not take. *on_refusal* is told of a command line that is refused,
    before the user is.
    """

    run: Callable[[Arguments, Mapping[str, str]], int]
    summary: str
    usage: str
    further_usage: Sequence[str] = ()
    about: str = ""
    examples: Sequence[tuple[str, str]]
    flags: Sequence[Flag] = ()
    settings: Collection[str] = NONE
    notes: str = ""
    values: Sequence[str] = ()
    takes_names: bool = True
    hint: str = ""
    on_refusal: Callable[[Sequence[str], SettingsError], None] | None = None

    def parse(self, argv: Sequence[str]) -> Arguments:
        """Return the flags and names of a command line. Raises SettingsError for one that is refused."""
        if argv and not (self.flags or self.settings or self.takes_names):
            raise SettingsError("", f"unexpected argument {argv[0]!r}; {self.usage} takes none")
        return parse_arguments(
            argv, self.flags, self.settings, takes_names=self.takes_names, hint=self.hint
        )


# --------------------------------------------------------------------
# All commands.


COMMANDS: Mapping[str, str] = {
    "run": "processes",
    "hub": "processes",
    "status": "status",
    "wait": "wait",
    "explain": "explain",
    "check": "status",
    "dump": "dump",
    "silence": "silence",
    "job-status": "job_status",
    "check-config": "check_config",
    "lint": "lint",
    "test": "story_tests",
    "docs": "docs",
    "completion": "completion",
    "version": "processes",
}
"""The module of each command, in the order of ``--help``. It is imported when it is needed."""


def find_command(name: str) -> Command:
    """
    Return a command of COMMANDS by its name. Only its module is imported: all take a second and tens of MiB.
    """
    with uncollected_imports():
        module = import_module(f"reporter.cli.{COMMANDS[name]}")
    command: Command = getattr(module, name.upper().replace("-", "_"))
    return command


def all_commands() -> Mapping[str, Command]:
    """
    Import every command, and return them by name in the order of ``--help``.

    It takes a second; a process that runs one command uses *find_command*.
    """
    return {name: find_command(name) for name in COMMANDS}


# --------------------------------------------------------------------
# The flags of Settings that commands take.


def _flags_of(command: TakenBy) -> frozenset[str]:
    return frozenset(flag.name for flag in FLAGS if command in flag.taken_by)


RUN_FLAGS = _flags_of(TakenBy.RUN)
HUB_FLAGS = _flags_of(TakenBy.HUB)
EVALUATION_FLAGS = _flags_of(TakenBy.EVALUATION)
"""The flags of ``run`` that shape an evaluation, or lead to the cluster."""


# --------------------------------------------------------------------
# The flags that several commands have.


def switch(name: str, help_: str, short: str = "") -> Flag:
    """
    Return the declaration of a boolean flag, which is false by default.

    *short*: its letter, as in ``-w``; empty without one.
    """
    return Flag(name, help_, default="false", parse=parse_boolean, short=short)


def output(kind: type[StrEnum]) -> Flag:
    """
    Return the declaration of ``--output``, with the members of *kind* as its values.

    The first member is the default.
    """
    parse = choice_parser(kind)
    return Flag("output", "The format.", short="o", default=parse.choices[0], parse=parse)


FROM = Flag(
    "from",
    "Where the status comes from. reporter: a pod of the reporter, through the API server. URL: its"
    " status address, as after kubectl port-forward. cluster: this program reads the cluster and"
    " evaluates it. file:PATH: a dump, as a folder, a file, or - for standard input. auto: the"
    " reporter, else the cluster. hub, or hub:URL: the clusters of a hub (status alone).",
    "auto|reporter|cluster|file:PATH|URL|hub",
    default="auto",
)
QUIET = switch("quiet", "Leave out the notes on standard error.", short="q")
NAMESPACE = Flag("namespace", "The namespace, so that only SET is named.", "NS", short="n")
CONTEXT = Flag("context", "The context of the kubeconfig; empty: its current one.", "NAME")
AS = Flag("as", "Act as this user, as kubectl does; needs the permission to impersonate.", "USER")
REQUEST_TIMEOUT = Flag(
    "request-timeout",
    "Give up a request after this time, such as 30s, 2m or 30 (seconds); 0: each has a limit of"
    " its own.",
    "TIME",
    default="0",
    parse=parse_any_duration,
)
REPORTER_NAMESPACE = Flag(
    "reporter-namespace",
    "The namespace of the reporter's pods; empty: they are looked for in all.",
    "NS",
)
ACCESS = (REPORTER_NAMESPACE, CONTEXT, AS, REQUEST_TIMEOUT)
"""The flags that name the cluster, and the user to reach it as."""

AT = Flag(
    "at",
    "The moment to evaluate a dump at; empty: when it was taken, else the newest time in it.",
    "TIME",
    parse=parse_optional_moment,
)

RUN_FLAGS_NOTE = """\
Flags of run that shape the evaluation, such as --kaito-namespace or
--catalogue-overlay, apply to --from=cluster and file:PATH. --kubeconfig applies
to all but file:PATH; with a URL it gives the token, if one is asked for.
run --help-all lists them, and environment variables set them too. If the
cluster has a reporter, its flags apply unless they are given here."""
