"""The words that a shell completes: commands, their flags, and the values of these."""

from collections.abc import Iterator

from msgspec import Struct

from reporter.cli.arguments import CommandFlag
from reporter.cli.command_specs import COMMAND_SPECS, CommandSpec
from reporter.settings import FLAGS, Flag


FILE_PLACEHOLDERS = frozenset({"PATH", "FILE"})
DEFAULT_COMMAND = "run"
"""The command whose flags are completed where no command is named."""


class FlagWords(Struct, frozen=True):
    """A flag. *values*: those it may have, if they are a closed set or the usual ones of a set."""

    name: str
    help: str
    short: str = ""
    takes_value: bool = True
    is_file: bool = False
    values: tuple[str, ...] = ()

    @property
    def spellings(self) -> tuple[str, ...]:
        return (f"--{self.name}", *((f"-{self.short}",) if self.short else ()))


class CommandWords(Struct, frozen=True):
    name: str
    help: str
    flags: tuple[FlagWords, ...]
    values: tuple[str, ...] = ()


def command_words() -> tuple[CommandWords, ...]:
    """Return every command with all flags that it takes."""
    return tuple(
        CommandWords(name, _first_sentence(spec.summary), tuple(_flags(spec)), (*spec.values,))
        for name, spec in COMMAND_SPECS.items()
    )


def _flags(spec: CommandSpec) -> Iterator[FlagWords]:
    yield from map(_of_command, spec.flags)
    yield from (_of_settings(flag) for flag in FLAGS if flag.name in spec.settings)


def _of_command(flag: CommandFlag) -> FlagWords:
    words = flag.placeholder.split("|")
    return FlagWords(
        flag.name,
        _first_sentence(flag.help),
        flag.short,
        takes_value=bool(flag.placeholder),
        is_file=flag.placeholder in FILE_PLACEHOLDERS,
        values=tuple(word for word in words if word.isalpha() and word.islower()),
    )


def _of_settings(flag: Flag) -> FlagWords:
    return FlagWords(
        flag.name,
        _first_sentence(flag.help),
        takes_value=not flag.is_boolean,
        is_file=flag.is_file,
        values=flag.choices,
    )


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].removesuffix(".")
