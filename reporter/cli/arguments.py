"""The arguments of a command: split into its own flags, flags of ``run``, and names; times of flags."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from textwrap import wrap
from typing import TypeVar

from msgspec import Struct

from reporter.model.suggest import suggest
from reporter.model.times import parse_seconds_or_units, parse_zoned_time
from reporter.settings import FLAGS, Flag, FlagGroup, SettingsError
from reporter.settings.parsers import FALSE_TEXTS, TRUE_TEXTS, choice_parser


# --------------------------------------------------------------------
# Split the arguments of a command into its own flags, flags of ``run``, and names.
#
# As with kubectl a flag may be written -n NAME, -nNAME, --namespace=NAME or --namespace NAME.


E = TypeVar("E", bound=StrEnum)

EVALUATION_GROUPS = frozenset(
    {FlagGroup.WATCHED, FlagGroup.EVENTS, FlagGroup.WEIGHTS, FlagGroup.CLUSTER}
)
"""The groups of the flags of ``run`` that shape an evaluation, or lead to the cluster."""

RUN_FLAGS: Mapping[str, Flag] = {
    flag.name: flag for flag in FLAGS if flag.group in EVALUATION_GROUPS
}
_ALL_SETTINGS = frozenset(flag.name for flag in FLAGS)

REPEAT = "\n"


class CommandFlag(Struct, frozen=True):
    """
    A flag of a command. *placeholder*: of its value; empty for a boolean.

    *repeats*: it may be given several times; its values are divided by REPEAT.
    """

    name: str
    help: str
    placeholder: str = ""
    short: str = ""
    default: str = ""
    repeats: bool = False


class Arguments(Struct, frozen=True):
    """
    The arguments of a command.

    *values*: the texts of the command's own flags. *run_flags*: those of ``run``, as ``--flag=value``.
    """

    names: tuple[str, ...]
    values: Mapping[str, str]
    run_flags: tuple[str, ...] = ()

    def is_set(self, name: str) -> bool:
        return self.values.get(name) == "true"

    def choice(self, name: str, kind: type[E]) -> E:
        """Return the member that a flag names. Raises SettingsError for any other text."""
        text = self.values[name]
        try:
            return choice_parser(kind)(text)
        except ValueError as err:
            raise SettingsError(f"--{name}={text}", str(err)) from None


def parse_arguments(
    argv: Sequence[str],
    flags: Sequence[CommandFlag],
    settings: Mapping[str, Flag] = RUN_FLAGS,
) -> Arguments:
    """
    Raise SettingsError for a flag that the command does not have, with the nearest that it has.

    *flags*: its own. *settings*: those of ``run`` that it takes.
    """
    return _Parser(flags, settings).parse(argv)


class _Parser:
    def __init__(self, flags: Sequence[CommandFlag], settings: Mapping[str, Flag]) -> None:
        self._settings = settings
        self._by_name = {flag.name: flag for flag in flags}
        self._by_short = {flag.short: flag for flag in flags if flag.short}

    def parse(self, argv: Sequence[str]) -> Arguments:
        names: list[str] = []
        run_flags: list[str] = []
        values = {flag.name: flag.default for flag in self._by_name.values()}
        rest = iter(argv)
        for argument in rest:
            if argument == "--":
                names += rest
            elif not argument.startswith("-") or argument == "-":
                names.append(argument)
            else:
                name, text = self._split(argument, rest)
                if name in self._by_name:
                    again = self._by_name[name].repeats and values[name]
                    values[name] = f"{values[name]}{REPEAT}{text}" if again else text
                else:
                    run_flags.append(f"--{name}={text}")
        return Arguments(tuple(names), values, tuple(run_flags))

    def _split(self, argument: str, rest: Iterator[str]) -> tuple[str, str]:
        """Return the full name of a flag and its text, which may be the next argument."""
        dashes = len(argument) - len(argument.lstrip("-"))
        name, equals, text = argument[dashes:].partition("=")
        is_long = name in self._by_name or name in self._settings
        if dashes == 1 and not is_long and name[:1] in self._by_short:
            flag = self._by_short[name[0]]
            if flag.placeholder or len(name) == 1:
                attached = argument[2:].removeprefix("=")
                name, text = flag.name, attached
                equals = "=" if attached or equals else ""
        self._require_known(name, given=argument.partition("=")[0])
        if self._is_boolean(name):
            return name, _boolean(name, text if equals else "true")
        if not equals:
            value = next(rest, None)
            if value is None:
                raise SettingsError(f"--{name}", f"needs a value: --{name}=…")
            text = value
        return name, text

    def _is_boolean(self, name: str) -> bool:
        own = self._by_name.get(name)
        return not own.placeholder if own is not None else self._settings[name].is_boolean

    def _require_known(self, name: str, given: str) -> None:
        if name in self._by_name or name in self._settings:
            return
        if name in _ALL_SETTINGS:
            raise SettingsError(given, "is a flag of run only, and has no effect here")
        known = {*self._by_name, *self._settings}
        offer = suggest(name, known, form="--{}", otherwise="--help lists all")
        raise SettingsError(given, f"there is no such flag; {offer}")


def _boolean(name: str, text: str) -> str:
    if text in TRUE_TEXTS:
        return "true"
    if text in FALSE_TEXTS:
        return "false"
    raise SettingsError(f"--{name}={text}", "must be true or false")


# --------------------------------------------------------------------
# Read the flags of commands whose value is a duration or a moment.


def parse_time_flag(arguments: Arguments, name: str) -> timedelta:
    """
    Return the duration that a flag gives: 90s, 1h30m, or a number of seconds. Raises SettingsError.
    """
    text = arguments.values[name]
    try:
        return parse_seconds_or_units(text)
    except ValueError:
        raise SettingsError(
            f"--{name}={text}", "must be a duration such as 90s, 10m or 1h30m, or seconds"
        ) from None


def parse_moment(text: str) -> datetime | None:
    """Return the moment that ``--at`` gives, None for the empty text. Raises SettingsError."""
    if not text:
        return None
    found = parse_zoned_time(text)
    if found is None:
        raise SettingsError(f"--at={text}", "must be a time such as 2026-01-31T12:00:00Z")
    return found


# --------------------------------------------------------------------
# The flags of status, wait and explain, and their ``--help``.


WIDTH = 80

FROM = CommandFlag(
    "from",
    "Where the status comes from. reporter: a pod of the reporter, through the API server. URL: its"
    " status address, as after kubectl port-forward. cluster: this program reads the cluster and"
    " evaluates it. file:PATH: a dump, as a folder, a file, or - for standard input. auto: the"
    " reporter, else the cluster. hub, or hub:URL: the clusters of a hub (status alone).",
    "auto|reporter|cluster|file:PATH|URL|hub",
    default="auto",
)
NAMESPACE = CommandFlag("namespace", "The namespace, so that only SET is named.", "NS", short="n")
CONTEXT = CommandFlag("context", "The context of the kubeconfig; empty: its current one.", "NAME")
AS = CommandFlag(
    "as", "Act as this user, as kubectl does; needs the permission to impersonate.", "USER"
)
REQUEST_TIMEOUT = CommandFlag(
    "request-timeout",
    "Give up a request after this time, such as 30s, 2m or 30 (seconds); 0: each has a limit of its own.",
    "TIME",
    default="0",
)
REPORTER_NAMESPACE = CommandFlag(
    "reporter-namespace",
    "The namespace of the reporter's pods; empty: they are looked for in all.",
    "NS",
)
ACCESS = (REPORTER_NAMESPACE, CONTEXT, AS, REQUEST_TIMEOUT)
"""The flags that name the cluster, and the user to reach it as."""

AT = CommandFlag("at", "The moment to evaluate a dump at; empty: the newest time in it.", "TIME")

STATUS_FLAGS = (
    CommandFlag("output", "The format.", "table|wide|json|yaml|name", short="o", default="table"),
    NAMESPACE,
    CommandFlag(
        "all-namespaces", "List the InferenceSets of all namespaces, one a line.", short="A"
    ),
    CommandFlag("no-headers", "Leave out the headers of a table."),
    CommandFlag("watch", "Go on, and print what changes. Not for dumps.", short="w"),
    FROM,
    AT,
    CommandFlag("exit-code", "End with 3 to 6 if the worst state is not Current."),
    CommandFlag(
        "history", "Show what was wrong, how long and how often, as the HealthEvents show."
    ),
    CommandFlag("since", "With --history: how far to look back.", "TIME", default="24h"),
    CommandFlag("schema", "Print the JSON Schema of --output=json, and end."),
    *ACCESS,
)
WAIT_FLAGS = (
    CommandFlag(
        "for",
        "ready: the state is Current. available: a replica serves and its route is not out. gone:"
        " it does not exist.",
        "ready|available|gone",
        default="ready",
    ),
    CommandFlag(
        "timeout",
        "How long to wait, such as 90s, 10m or 90 (seconds); 0: ask once, and take the answer as it is.",
        "TIME",
        default="10m",
    ),
    CommandFlag("fail-fast", "End at Failed, unless it is transient, and at Terminating."),
    NAMESPACE,
    FROM,
    *ACCESS,
)
EXPLAIN_FLAGS = (NAMESPACE, FROM, AT, *ACCESS)
SILENCE_FLAGS = (
    CommandFlag(
        "until", "When it ends: a time such as 2026-12-01T00:00:00Z, or 90m from now.", "TIME"
    ),
    CommandFlag("why", "Why; shown with the silence.", "TEXT"),
    CommandFlag("by", "Who silences; empty: the name of the user of this machine.", "NAME"),
    CommandFlag("apply", "Annotate the namespace or InferenceSet, instead of printing."),
    CommandFlag("replace", "With --apply: replace the silence that the object has."),
    CommandFlag("file", "Print an entry of the file of silences instead of annotations."),
    NAMESPACE,
    CONTEXT,
    AS,
    REQUEST_TIMEOUT,
)

CHECK_CONFIG_FLAGS = (
    CommandFlag("output", "The format.", "text|json", short="o", default="text"),
)

RUN_FLAGS_NOTE = """\
Flags of run that shape the evaluation, such as --kaito-namespace or
--catalogue-overlay, apply to --from=cluster and file:PATH. --kubeconfig applies
to all but file:PATH; with a URL it gives the token, if one is asked for.
run --help lists these flags, and environment variables set them too. If the
cluster has a reporter, its flags apply unless they are given here."""


def render_flags(flags: Sequence[CommandFlag]) -> str:
    return "\n".join(("Flags:", *(line for flag in flags for line in _render_flag(flag))))


def _render_flag(flag: CommandFlag) -> Iterator[str]:
    value = f"={flag.placeholder}" if flag.placeholder else ""
    short = f"-{flag.short}, " if flag.short else ""
    yield f"  {short}--{flag.name}{value}"
    text = f"{flag.help} Default: {flag.default}." if flag.default else flag.help
    yield from wrap(text, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
