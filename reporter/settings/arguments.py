"""
Split a command line into flags and names, by the rules of Go's flag package and of kubectl.

A flag has one dash or two. Its value follows as ``--flag=value`` or ``--flag value``; that of a
boolean only as the former. A short one may be written -n NAME, -nNAME or -n=NAME. The last of several
values counts.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from reporter.model.suggest import find_similar, suggest
from reporter.settings.errors import SettingsError
from reporter.settings.flags import VARIABLE_PREFIX, Flag, TakenBy
from reporter.settings.settings import FLAG_NAMES, FLAGS


FLAGS_BY_NAME: Mapping[str, Flag] = {flag.name: flag for flag in FLAGS}
FLAGS_BY_VARIABLE: Mapping[str, Flag] = {flag.variable: flag for flag in FLAGS}
TYPO_SIMILARITY = 0.85
"""
The similarity to one of our variables above which another is taken for a typing error.

Kubernetes sets variables with our prefix too: those of a Service, such as …_SERVICE_HOST.
"""

REPEAT = "\n"
"""The character between the values of a flag that was given several times."""


class Arguments(Struct, frozen=True):
    """
    The arguments of a command.

    *names*: those that are no flags. *values*: the text of each flag of the command's own, its default if it
    was not given. *settings*: the texts of the flags of Settings that were given. *flags*: the declarations
    of the command's own flags.
    """

    names: Sequence[str]
    values: Mapping[str, str]
    settings: Mapping[str, str]
    flags: Mapping[str, Flag]

    @property
    def run_flags(self) -> tuple[str, ...]:
        """The flags of Settings, as ``--flag=value``."""
        return tuple(f"--{name}={text}" for name, text in self.settings.items())

    def is_set(self, name: str) -> bool:
        """Return whether a boolean flag of the command is true; KeyError for one that it lacks."""
        return self.values[name] == "true"

    def value(self, name: str) -> Any:
        """
        Return the parsed value of a flag of the command's own. Raise SettingsError if it is malformed.
        """
        return self.flags[name].read(self.values[name])


def parse_arguments(
    argv: Sequence[str],
    flags: Sequence[Flag],
    settings: Collection[str],
    *,
    takes_names: bool = True,
    hint: str = "",
) -> Arguments:
    """
    Return the arguments. Raise SettingsError for a flag that the command lacks, with the nearest.

    *flags*: its own. *settings*: the names of the flags of Settings that it takes. *hint*: text
    appended to the error for a flag of `run` or `hub` that this command does not take.
    """
    return _Parser(flags, settings, takes_names=takes_names, hint=hint).parse(argv)


class _Parser:
    def __init__(
        self, flags: Sequence[Flag], settings: Collection[str], *, takes_names: bool, hint: str
    ) -> None:
        self._own = {flag.name: flag for flag in flags}
        self._flags = {name: FLAGS_BY_NAME[name] for name in settings} | self._own
        self._by_short = {flag.short: flag for flag in flags if flag.short}
        self._takes_names, self._hint = takes_names, hint

    def parse(self, argv: Sequence[str]) -> Arguments:
        names: list[str] = []
        values = {name: flag.default for name, flag in self._own.items()}
        settings: dict[str, str] = {}
        rest = iter(argv)
        for argument in rest:
            if self._takes_names and argument == "--":
                names += rest
            elif self._takes_names and (argument == "-" or not argument.startswith("-")):
                names.append(argument)
            else:
                flag, text = self._split(argument, rest)
                found = values if flag.name in self._own else settings
                again = flag.repeats and found[flag.name]
                found[flag.name] = f"{found[flag.name]}{REPEAT}{text}" if again else text
        return Arguments(names, values, settings, self._own)

    def _split(self, argument: str, rest: Iterator[str]) -> tuple[Flag, str]:
        """Return a flag and its text, which may be the next argument."""
        given, equals, text = argument.partition("=")
        name = given.removeprefix("-").removeprefix("-")
        if not name or name.startswith("-") or not given.startswith("-"):
            raise SettingsError("", _unexpected_argument(argument))
        flag = self._flags.get(name) or self._find_short(argument)
        if flag is None:
            raise SettingsError(given, self._why_unknown(name))
        if flag.short and flag.name != name:
            text = argument[2:].removeprefix("=")
            equals = equals or text
        if flag.is_boolean:
            return flag, str(flag.read(text if equals else "true")).lower()
        value = text if equals else next(rest, None)
        if value is None:
            raise SettingsError(f"--{flag.name}", f"needs a value: --{flag.name}=…")
        return flag, value

    def _find_short(self, argument: str) -> Flag | None:
        """Return the flag of -n; a boolean takes nothing that is attached but =true or =false."""
        flag = self._by_short.get(argument[1])
        attached = argument[2:3] not in {"", "="}
        return None if flag is not None and flag.is_boolean and attached else flag

    def _why_unknown(self, name: str) -> str:
        if name in FLAG_NAMES:
            owner = "run" if TakenBy.RUN in FLAGS_BY_NAME[name].taken_by else "hub"
            of = f"of {owner} only" if self._takes_names else f"of the command {owner}"
            return f"is a flag {of}, and has no effect here{self._hint}"
        offer = suggest(name, self._flags, form="--{}", otherwise="--help lists all")
        return f"there is no such flag; {offer}"


def _unexpected_argument(argument: str) -> str:
    if argument in {"true", "false"}:
        return f"unexpected argument {argument!r}; write a boolean as --flag={argument}"
    return f"unexpected argument {argument!r}; flags begin with --"


# --------------------------------------------------------------------
# Read the texts of flags of Settings.


class FlagInput(Struct, frozen=True):
    """The text of a flag. *origin*: the flag or variable that gave it, for errors."""

    text: str
    origin: str


def read_flag_inputs(
    argv: Sequence[str], environ: Mapping[str, str], taken: Collection[str]
) -> Mapping[str, FlagInput]:
    """
    Return what was given, by flag name; arguments win over variables. Raise SettingsError.

    *taken*: the names of the flags that may be arguments. A pod may have variables of other commands.
    """
    by_variable = {
        flag.name: FlagInput(environ[flag.variable], flag.variable)
        for flag in FLAGS
        if flag.variable in environ
    }
    given = parse_arguments(argv, (), taken, takes_names=False).settings
    return by_variable | {name: FlagInput(text, f"--{name}") for name, text in given.items()}


def find_misspelled_variables(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield a note for each variable that looks like a misspelled one of ours."""
    for variable in sorted(environ.keys() - FLAGS_BY_VARIABLE.keys()):
        if variable.startswith(VARIABLE_PREFIX):
            similar = find_similar(variable, FLAGS_BY_VARIABLE, at_least=TYPO_SIMILARITY)
            if similar:
                yield f"environment variable {variable} is not ours; did you mean {similar}?"
