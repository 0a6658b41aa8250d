"""The completion of zsh, with its function _arguments."""

import re
from collections.abc import Iterator, Sequence

from reporter import PROGRAM_NAME
from reporter.cli.completion_words import DEFAULT_COMMAND, CommandWords, FlagWords


FUNCTION = f"_{PROGRAM_NAME}"

SCRIPT = """\
#compdef {program}
# Completion of {program} for zsh.
{function}() {{
  local command={default}
  local -a commands=(
{commands}
  )
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    _describe -t commands command commands
    return
  fi
  if [[ $words[2] != -* ]]; then
    command=$words[2]
    shift words
    (( CURRENT-- ))
  fi
  case $command in
{cases}
  esac
}}
compdef {function} {program}
# In a folder of fpath this file is the body of a function, of which the first call completes too.
[[ $funcstack[1] != _* ]] || {function} "$@\""""


def render(commands: Sequence[CommandWords]) -> str:
    return SCRIPT.format(
        program=PROGRAM_NAME,
        function=FUNCTION,
        default=DEFAULT_COMMAND,
        commands="\n".join(
            "    " + _quoted(f"{each.name}:{_without(each.help, ':')}") for each in commands
        ),
        cases="\n".join(_case(each) for each in commands),
    )


def _case(command: CommandWords) -> str:
    specs = [spec for flag in command.flags for spec in _specs(flag)]
    specs.append("--help[Show the help of the command]")
    specs.append(f"*:name:({' '.join(command.values)})" if command.values else "*:name:")
    words = " \\\n        ".join(map(_quoted, specs))
    return f"    {command.name})\n      _arguments \\\n        {words} ;;"


def _specs(flag: FlagWords) -> Iterator[str]:
    """Yield the specification of each spelling: ``--flag=[text]:message:action``."""
    text = _without(flag.help, "[]:\\")
    for spelling in flag.spellings:
        if not flag.takes_value:
            yield f"{spelling}[{text}]"
            continue
        joint = "=" if spelling.startswith("--") else "+"
        yield f"{spelling}{joint}[{text}]:value:{_action(flag)}"


def _action(flag: FlagWords) -> str:
    if flag.is_file:
        return "_files"
    return f"({' '.join(flag.values)})" if flag.values else ""


def _without(text: str, characters: str) -> str:
    return re.sub(f"[{re.escape(characters)}]", "", text)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
