"""
The command ``completion``: a script for bash, zsh or fish; and the completion of the kubectl plugin.

A script holds all words, so that a shell starts no process for a completion.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from reporter import PROGRAM_NAME
from reporter.cli.command import Command, all_commands, find_command
from reporter.cli.command_names import PLUGIN_COMMANDS, PLUGIN_DEFAULT_COMMAND
from reporter.settings import FLAGS, Arguments, Flag, SettingsError
from reporter.settings.parsers import parse_boolean


# --------------------------------------------------------------------
# The words that a shell completes: commands, their flags, and the values of these.


DEFAULT_COMMAND = "run"
"""The command whose flags are completed where no command is named."""

HELP = Flag("help", "Show the help of the command.", default="false", parse=parse_boolean)


def taken_flags(command: Command) -> tuple[Flag, ...]:
    """
    Return the flags to complete for a command: its own first, then those of Settings that it takes.
    """
    return (*command.flags, *(flag for flag in FLAGS if flag.name in command.settings))


def offered_values(flag: Flag) -> Sequence[str]:
    """
    Return the words a shell completes: the flag's choices, or lower-case words of its placeholder.
    """
    words = flag.choices or flag.placeholder.split("|")
    return [word for word in words if word.isalpha() and word.islower()]


def _spellings(flag: Flag) -> tuple[str, ...]:
    return (f"--{flag.name}", *((f"-{flag.short}",) if flag.short else ()))


def _long(flag: Flag) -> str:
    return f"--{flag.name}{'' if flag.is_boolean else '='}"


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].removesuffix(".")


# --------------------------------------------------------------------
# Bash.


BASH_FUNCTION = f"_{PROGRAM_NAME.replace('-', '_')}"

BASH_SCRIPT = """\
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


def render_bash(commands: Mapping[str, Command]) -> str:
    """
    Return the script for bash 4 and later, with every command, flag and closed set of values in it.
    """
    return BASH_SCRIPT.format(
        program=PROGRAM_NAME,
        function=BASH_FUNCTION,
        default=DEFAULT_COMMAND,
        commands=" ".join(commands),
        flags="\n".join(_bash_flags(*each) for each in commands.items()),
        values="\n".join(line for each in commands.items() for line in _bash_values(*each)),
    )


def _bash_flags(name: str, command: Command) -> str:
    words = " ".join((*map(_long, taken_flags(command)), "--help"))
    return f'    {name}) flags="{words}" ;;'


def _bash_values(name: str, command: Command) -> Iterator[str]:
    for flag in taken_flags(command):
        values = "<file>" if flag.is_file else " ".join(offered_values(flag))
        if values:
            cases = "|".join(f'"{name} {each}"' for each in _spellings(flag))
            yield f'    {cases}) values="{values}" ;;'
    if command.values:
        yield f'    "{name} {name}") values="{" ".join(command.values)}" ;;'


# --------------------------------------------------------------------
# Fish.


FISH_FUNCTION = f"__{PROGRAM_NAME.replace('-', '_')}"

FISH_HEAD = """\
# Completion of {program} for fish 3 and later.
function {function}_command
  set -l words (commandline -opc)
  if test (count $words) -lt 2; or string match -q -- '-*' $words[2]
    echo {default}
  else
    echo $words[2]
  end
end
function {function}_is
  test ({function}_command) = $argv[1]
end
function {function}_first
  test (count (commandline -opc)) -lt 2
end
complete -c {program} -f"""


def render_fish(commands: Mapping[str, Command]) -> str:
    """Return the script for fish 3 and later, with a line for each command, flag and set of values."""
    head = FISH_HEAD.format(program=PROGRAM_NAME, function=FISH_FUNCTION, default=DEFAULT_COMMAND)
    names = [
        _fish_line("first", f"-a {name} -d {_fish_quoted(_first_sentence(each.summary))}")
        for name, each in commands.items()
    ]
    return "\n".join(
        (head, *names, *(line for each in commands.items() for line in _fish_lines(*each)))
    )


def _fish_lines(name: str, command: Command) -> Iterator[str]:
    condition = f"is {name}"
    if command.values:
        yield _fish_line(condition, f"-a {_fish_quoted(' '.join(command.values))}")
    for flag in (*taken_flags(command), HELP):
        yield _fish_line(condition, _fish_options(flag))


def _fish_options(flag: Flag) -> str:
    parts = [f"-l {flag.name}"]
    if flag.short:
        parts.append(f"-s {flag.short}")
    if flag.is_file:
        parts.append("-r -F")
    elif not flag.is_boolean:
        parts.append("-x")
    if values := offered_values(flag):
        parts.append(f"-a {_fish_quoted(' '.join(values))}")
    return " ".join((*parts, f"-d {_fish_quoted(_first_sentence(flag.help))}"))


def _fish_line(condition: str, options: str) -> str:
    return (
        f"complete -c {PROGRAM_NAME} -n {_fish_quoted(f'{FISH_FUNCTION}_{condition}')} {options}"
    )


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


# --------------------------------------------------------------------
# Zsh, with its function _arguments.


ZSH_FUNCTION = f"_{PROGRAM_NAME}"

ZSH_SCRIPT = """\
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


def render_zsh(commands: Mapping[str, Command]) -> str:
    """Return the script for zsh, to be sourced or put into a folder of fpath."""
    described = (
        f"{name}:{_without(_first_sentence(each.summary), ':')}" for name, each in commands.items()
    )
    return ZSH_SCRIPT.format(
        program=PROGRAM_NAME,
        function=ZSH_FUNCTION,
        default=DEFAULT_COMMAND,
        commands="\n".join(f"    {_zsh_quoted(each)}" for each in described),
        cases="\n".join(_zsh_case(*each) for each in commands.items()),
    )


def _zsh_case(name: str, command: Command) -> str:
    specs = [spec for flag in (*taken_flags(command), HELP) for spec in _zsh_specs(flag)]
    specs.append(f"*:name:({' '.join(command.values)})" if command.values else "*:name:")
    words = " \\\n        ".join(map(_zsh_quoted, specs))
    return f"    {name})\n      _arguments \\\n        {words} ;;"


def _zsh_specs(flag: Flag) -> Iterator[str]:
    """Yield the specification of each spelling: ``--flag=[text]:message:action``."""
    text = _without(_first_sentence(flag.help), "[]:\\")
    values = " ".join(offered_values(flag))
    action = "_files" if flag.is_file else f"({values})" if values else ""
    for spelling in _spellings(flag):
        joint = "=" if spelling.startswith("--") else "+"
        value = "" if flag.is_boolean else f":value:{action}"
        yield f"{spelling}{'' if flag.is_boolean else joint}[{text}]{value}"


def _without(text: str, characters: str) -> str:
    return re.sub(f"[{re.escape(characters)}]", "", text)


def _zsh_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


# --------------------------------------------------------------------
# The kubectl plugin.
#
# kubectl 1.26 and later runs ``kubectl_complete-NAME`` with the words of the line, of which the last one
# is unfinished. It expects a line for each completion, with a description after a tab, and as the last
# line a directive of cobra (KEP-2379, section "Shell Completion Support").


NO_SPACE, NO_FILES, FILES = 2, 4, 0
"""
Bits of cobra's ShellCompDirective: add no space after the word; complete no names of files. 0 completes
files where no completion is given.
"""


def run_kubectl_completion(words: Sequence[str]) -> int:
    """Print the completions of a line with these words after the plugin's name."""
    print(render_kubectl({name: find_command(name) for name in sorted(PLUGIN_COMMANDS)}, words))
    return 0


def render_kubectl(offered: Mapping[str, Command], words: Sequence[str]) -> str:
    """
    Return the completions of the last of these words, one a line, and at the end cobra's directive.

    *offered*: the commands of the plugin by name. *words*: those after the plugin's name.
    """
    *before, current = words or ("",)
    is_named = bool(before) and before[0] in offered
    command = offered[before[0] if is_named else PLUGIN_DEFAULT_COMMAND]
    flag, start = _flag_of_value(command, before, current)
    if flag is not None:
        return _answer(offered_values(flag), start, FILES if flag.is_file else NO_FILES)
    if current.startswith("-"):
        return _complete_flags(command, current)
    if not before:
        names = [f"{name}\t{_first_sentence(each.summary)}" for name, each in offered.items()]
        return _answer(names, current, NO_FILES)
    return _answer(command.values, current, NO_FILES)


def _complete_flags(command: Command, current: str) -> str:
    lines = [
        f"{_long(each)}\t{_first_sentence(each.help)}" for each in (*taken_flags(command), HELP)
    ]
    needs_value = [line for line in lines if line.startswith(current) and "=\t" in line]
    return _answer(lines, current, NO_FILES | (NO_SPACE if needs_value else 0))


def _flag_of_value(
    command: Command, before: Sequence[str], current: str
) -> tuple[Flag | None, str]:
    """Return the flag whose value is completed, if any, and the beginning of that value."""
    flags = [flag for flag in taken_flags(command) if not flag.is_boolean]
    by_spelling = {spelling: flag for flag in flags for spelling in _spellings(flag)}
    spelling, equals, value = current.partition("=")
    if equals and spelling in by_spelling:
        return by_spelling[spelling], value
    return by_spelling.get(before[-1] if before else ""), current


def _answer(lines: Sequence[str], start: str, directive: int) -> str:
    return "\n".join((*(line for line in lines if line.startswith(start)), f":{directive}"))


# --------------------------------------------------------------------
# The command.


RENDERERS: Mapping[str, Callable[[Mapping[str, Command]], str]] = {
    "bash": render_bash,
    "zsh": render_zsh,
    "fish": render_fish,
}
SHELLS = "|".join(RENDERERS)


def _run(arguments: Arguments, _: Mapping[str, str]) -> int:
    if len(arguments.names) != 1 or arguments.names[0] not in RENDERERS:
        raise SettingsError("", f"name one shell: completion {SHELLS}")
    print(RENDERERS[arguments.names[0]](all_commands()))
    return 0


COMPLETION = Command(
    run=_run,
    summary="Print the completion of commands and flags for a shell.",
    usage=f"completion {SHELLS}",
    examples=(
        ("completion bash > completion.bash", "then: source completion.bash"),
        ("completion zsh > _status-reporter", "in a folder of fpath; then start a new zsh"),
        (
            "completion fish > productionstack-status-reporter.fish",
            "in ~/.config/fish/completions",
        ),
    ),
    values=tuple(RENDERERS),
)
