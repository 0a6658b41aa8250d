"""
Arguments and environment to the text of each flag, by the rules of Go's flag package.

One dash or two; ``--flag=value`` or ``--flag value``, but for booleans only the former; the last
of several counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from reporter.settings.errors import SettingsError
from reporter.settings.flags import FLAG_NAMES, FLAGS, VARIABLE_PREFIX, Flag


FLAGS_BY_NAME: Mapping[str, Flag] = {flag.name: flag for flag in FLAGS}
FLAGS_BY_VARIABLE: Mapping[str, Flag] = {flag.variable: flag for flag in FLAGS}
TYPO_SIMILARITY = 0.85
"""
How alike a variable must be to one of ours to be a slip; Kubernetes sets others of this prefix.
"""


@dataclass(frozen=True, slots=True)
class FlagInput:
    """
    *origin*: how it was given, as an error names it.
    """

    text: str
    origin: str


def read_flag_inputs(argv: Sequence[str], environ: Mapping[str, str]) -> Mapping[str, FlagInput]:
    """
    By the flag's name; arguments win over variables. Raises SettingsError.
    """
    found = {
        flag.name: FlagInput(environ[flag.variable], flag.variable)
        for flag in FLAGS
        if flag.variable in environ
    }
    found.update(_parse_arguments(argv))
    return found


def _parse_arguments(argv: Sequence[str]) -> Iterator[tuple[str, FlagInput]]:
    left = iter(argv)
    for argument in left:
        dashes = len(argument) - len(argument.lstrip("-"))
        name, equals, text = argument[dashes:].partition("=")
        if dashes not in {1, 2} or not name:
            raise SettingsError("", _unexpected_argument(argument))
        flag = _find_flag(name)
        follows = "true" if flag.is_boolean else None
        value = text if equals else follows or next(left, None)
        if value is None:
            raise SettingsError(f"--{name}", f"needs a value: --{name}=…")
        yield name, FlagInput(value, f"--{name}")


def _find_flag(name: str) -> Flag:
    if name in FLAGS_BY_NAME:
        return FLAGS_BY_NAME[name]
    close = get_close_matches(name, sorted(FLAG_NAMES), n=1)
    offer = f"did you mean --{close[0]}?" if close else "--help lists all"
    raise SettingsError(f"--{name}", f"there is no such flag; {offer}")


def _unexpected_argument(argument: str) -> str:
    if argument in {"true", "false"}:
        return f"unexpected argument {argument!r}; write a boolean as --flag={argument}"
    return f"unexpected argument {argument!r}; flags begin with --"


def find_misspelled_variables(environ: Mapping[str, str]) -> Iterator[str]:
    """
    Variables that are none of ours and look like a slip of the pen.
    """
    for variable in sorted(environ.keys() - FLAGS_BY_VARIABLE.keys()):
        if variable.startswith(VARIABLE_PREFIX):
            close = get_close_matches(
                variable, sorted(FLAGS_BY_VARIABLE), n=1, cutoff=TYPO_SIMILARITY
            )
            if close:
                yield f"environment variable {variable} is not ours; did you mean {close[0]}?"
