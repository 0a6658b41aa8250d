"""
Arguments and environment to the text of each flag, by the rules of Go's flag package.

One dash or two; ``--flag=value`` or ``--flag value``, but for booleans only the former; the last
of several counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from reporter.settings.errors import SettingsError
from reporter.settings.flags import FLAGS, NAMES, PREFIX, Flag


BY_NAME: Mapping[str, Flag] = {flag.name: flag for flag in FLAGS}
BY_VARIABLE: Mapping[str, Flag] = {flag.variable: flag for flag in FLAGS}
TYPO = 0.85
"""
How alike a variable must be to one of ours to be a slip; Kubernetes sets others of this prefix.
"""


@dataclass(frozen=True, slots=True)
class Given:
    """
    *origin*: how it was given, as an error names it.
    """

    text: str
    origin: str


def given(argv: Sequence[str], environ: Mapping[str, str]) -> Mapping[str, Given]:
    """
    By the flag's name; arguments win over variables. Raises SettingsError.
    """
    found = {
        flag.name: Given(environ[flag.variable], flag.variable)
        for flag in FLAGS
        if flag.variable in environ
    }
    found.update(_arguments(argv))
    return found


def _arguments(argv: Sequence[str]) -> Iterator[tuple[str, Given]]:
    left = iter(argv)
    for argument in left:
        dashes = len(argument) - len(argument.lstrip("-"))
        name, equals, text = argument[dashes:].partition("=")
        if dashes not in {1, 2} or not name:
            raise SettingsError("", _stray(argument))
        flag = _flag(name)
        follows = "true" if flag.boolean else None
        value = text if equals else follows or next(left, None)
        if value is None:
            raise SettingsError(f"--{name}", f"needs a value: --{name}=…")
        yield name, Given(value, f"--{name}")


def _flag(name: str) -> Flag:
    if name in BY_NAME:
        return BY_NAME[name]
    close = get_close_matches(name, sorted(NAMES), n=1)
    offer = f"did you mean --{close[0]}?" if close else "--help lists all"
    raise SettingsError(f"--{name}", f"there is no such flag; {offer}")


def _stray(argument: str) -> str:
    if argument in {"true", "false"}:
        return f"unexpected argument {argument!r}; write a boolean as --flag={argument}"
    return f"unexpected argument {argument!r}; flags begin with --"


def slips(environ: Mapping[str, str]) -> Iterator[str]:
    """
    Variables that are none of ours and look like a slip of the pen.
    """
    for variable in sorted(environ.keys() - BY_VARIABLE.keys()):
        if variable.startswith(PREFIX):
            close = get_close_matches(variable, sorted(BY_VARIABLE), n=1, cutoff=TYPO)
            if close:
                yield f"environment variable {variable} is not ours; did you mean {close[0]}?"
