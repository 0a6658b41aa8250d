"""
The completion of the kubectl plugin.

kubectl 1.26 and later runs ``kubectl_complete-NAME`` with the words of the line, of which the last one is
unfinished. It expects a line for each completion, with a description after a tab, and as the last line a
directive of cobra (KEP-2379, section "Shell Completion Support").
"""

from collections.abc import Iterator, Sequence

from reporter.cli.asking_commands import PLUGIN_COMMANDS, PLUGIN_DEFAULT_COMMAND
from reporter.cli.completion_words import CommandWords, FlagWords


NO_SPACE, NO_FILES, FILES = 2, 4, 0
"""
Bits of cobra's ShellCompDirective: add no space after the word; complete no names of files. 0 completes
files where no completion is given.
"""

HELP = FlagWords("help", "Show the help of the command", takes_value=False)


def render(commands: Sequence[CommandWords], words: Sequence[str]) -> str:
    """Return the answer to kubectl for a line with these words after the plugin's name."""
    *before, current = words or ("",)
    offered = {each.name: each for each in commands if each.name in PLUGIN_COMMANDS}
    is_named = bool(before) and before[0] in offered
    command = offered[before[0] if is_named else PLUGIN_DEFAULT_COMMAND]
    flag, start = _flag_of_value(command, before, current)
    if flag is not None:
        return _answer(flag.values, start, FILES if flag.is_file else NO_FILES)
    if current.startswith("-"):
        return _complete_flags(command, current)
    if not before:
        names = [f"{each.name}\t{each.help}" for each in offered.values()]
        return _answer(names, current, NO_FILES)
    return _answer(command.values, current, NO_FILES)


def _complete_flags(command: CommandWords, current: str) -> str:
    lines = [
        f"--{each.name}{'=' if each.takes_value else ''}\t{each.help}"
        for each in (*command.flags, HELP)
    ]
    needs_value = [line for line in lines if line.startswith(current) and "=\t" in line]
    return _answer(lines, current, NO_FILES | (NO_SPACE if needs_value else 0))


def _flag_of_value(
    command: CommandWords, before: Sequence[str], current: str
) -> tuple[FlagWords | None, str]:
    """Return the flag whose value is completed, if any, and the beginning of that value."""
    by_spelling = dict(_spellings(command))
    spelling, equals, value = current.partition("=")
    if equals and spelling in by_spelling:
        return by_spelling[spelling], value
    return by_spelling.get(before[-1] if before else ""), current


def _spellings(command: CommandWords) -> Iterator[tuple[str, FlagWords]]:
    for flag in command.flags:
        if flag.takes_value:
            yield from ((spelling, flag) for spelling in flag.spellings)


def _answer(lines: Sequence[str], start: str, directive: int) -> str:
    return "\n".join((*(line for line in lines if line.startswith(start)), f":{directive}"))
