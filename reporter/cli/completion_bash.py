"""The completion of bash."""

from collections.abc import Iterator, Sequence

from reporter import PROGRAM_NAME
from reporter.cli.completion_words import DEFAULT_COMMAND, CommandWords, FlagWords


FUNCTION = f"_{PROGRAM_NAME.replace('-', '_')}"

SCRIPT = """\
# Completion of {program} for bash 4 and later.
{function}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous="" command={default} flags="" values=""
  (( COMP_CWORD == 0 )) || previous=${{COMP_WORDS[COMP_CWORD-1]}}
  # Bash takes = for a word of its own.
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $previous == "=" ]]; then
    previous=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  COMPREPLY=()
  if (( COMP_CWORD == 1 )) && [[ $current != -* ]]; then
    COMPREPLY=($(compgen -W "{commands}" -- "$current"))
    return
  fi
  [[ ${{COMP_WORDS[1]}} == -* ]] || command=${{COMP_WORDS[1]}}
  case $command in
{flags}
  esac
  case "$command $previous" in
{values}
  esac
  if [[ $values == "<file>" ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$current"))
  elif [[ -n $values && $current != -* ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
  elif [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
    [[ ${{#COMPREPLY[@]}} != 1 || ${{COMPREPLY[0]}} != *= ]] || compopt -o nospace 2>/dev/null
  fi
}}
complete -F {function} {program}"""


def render(commands: Sequence[CommandWords]) -> str:
    return SCRIPT.format(
        program=PROGRAM_NAME,
        function=FUNCTION,
        default=DEFAULT_COMMAND,
        commands=" ".join(each.name for each in commands),
        flags="\n".join(
            f'    {each.name}) flags="{_flag_words(each.flags)}" ;;' for each in commands
        ),
        values="\n".join(line for each in commands for line in _value_lines(each)),
    )


def _flag_words(flags: Sequence[FlagWords]) -> str:
    words = (f"--{flag.name}{'=' if flag.takes_value else ''}" for flag in flags)
    return " ".join((*words, "--help"))


def _value_lines(command: CommandWords) -> Iterator[str]:
    for flag in command.flags:
        values = "<file>" if flag.is_file else " ".join(flag.values)
        if values:
            cases = "|".join(f'"{command.name} {each}"' for each in flag.spellings)
            yield f'    {cases}) values="{values}" ;;'
    if command.values:
        yield f'    "{command.name} {command.name}") values="{" ".join(command.values)}" ;;'
