"""
Split the arguments of a command into its own flags, flags of ``run``, and names.

As with kubectl a flag may be written -n NAME, -nNAME, --namespace=NAME or --namespace NAME.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from msgspec import Struct

from reporter.model.text.suggest import suggest
from reporter.settings import FLAGS, Flag, FlagGroup, SettingsError
from reporter.settings.parsers import FALSE_TEXTS, TRUE_TEXTS, choice_parser


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
