"""
Read the text of each flag from arguments and environment, by the rules of Go's flag package.

A flag has one dash or two. Its value follows as ``--flag=value`` or ``--flag value``; that of a
boolean only as the former. The last of several values counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reporter.model.suggest import find_similar, suggest
from reporter.settings.errors import SettingsError
from reporter.settings.flags import VARIABLE_PREFIX, Flag
from reporter.settings.settings import FLAG_NAMES, FLAGS


FLAGS_BY_NAME: Mapping[str, Flag] = {flag.name: flag for flag in FLAGS}
FLAGS_BY_VARIABLE: Mapping[str, Flag] = {flag.variable: flag for flag in FLAGS}
TYPO_SIMILARITY = 0.85
"""
The similarity to one of our variables above which another is taken for a typing error.

Kubernetes sets variables with our prefix too: those of a Service, such as …_SERVICE_HOST.
"""


@dataclass(frozen=True, slots=True)
class FlagInput:
    """The text of a flag. *origin*: the flag or variable that gave it, for errors."""

    text: str
    origin: str


def read_flag_inputs(argv: Sequence[str], environ: Mapping[str, str]) -> Mapping[str, FlagInput]:
    """Return what was given, by flag name; arguments win over variables. Raise SettingsError."""
    found = {
        flag.name: FlagInput(environ[flag.variable], flag.variable)
        for flag in FLAGS
        if flag.variable in environ
    }
    found.update(_parse_arguments(argv))
    return found


def _parse_arguments(argv: Sequence[str]) -> Iterator[tuple[str, FlagInput]]:
    remaining = iter(argv)
    for argument in remaining:
        dashes = len(argument) - len(argument.lstrip("-"))
        name, equals, text = argument[dashes:].partition("=")
        if dashes not in {1, 2} or not name:
            raise SettingsError("", _unexpected_argument(argument))
        implied = "true" if _find_flag(name).is_boolean else None
        value = text if equals else implied or next(remaining, None)
        if value is None:
            raise SettingsError(f"--{name}", f"needs a value: --{name}=…")
        yield name, FlagInput(value, f"--{name}")


def _find_flag(name: str) -> Flag:
    if name in FLAGS_BY_NAME:
        return FLAGS_BY_NAME[name]
    offer = suggest(name, FLAG_NAMES, form="--{}", otherwise="--help lists all")
    raise SettingsError(f"--{name}", f"there is no such flag; {offer}")


def _unexpected_argument(argument: str) -> str:
    if argument in {"true", "false"}:
        return f"unexpected argument {argument!r}; write a boolean as --flag={argument}"
    return f"unexpected argument {argument!r}; flags begin with --"


def find_misspelled_variables(environ: Mapping[str, str]) -> Iterator[str]:
    """Yield a note for each variable that looks like a misspelled one of ours."""
    for variable in sorted(environ.keys() - FLAGS_BY_VARIABLE.keys()):
        if variable.startswith(VARIABLE_PREFIX):
            similar = find_similar(variable, FLAGS_BY_VARIABLE, at_least=TYPO_SIMILARITY)
            if similar:
                yield f"environment variable {variable} is not ours; did you mean {similar}?"
