"""The completion of fish."""

from collections.abc import Iterator, Sequence

from reporter import PROGRAM_NAME
from reporter.cli.completion_words import DEFAULT_COMMAND, CommandWords, FlagWords


FUNCTION = f"__{PROGRAM_NAME.replace('-', '_')}"

HEAD = """\
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


def render(commands: Sequence[CommandWords]) -> str:
    return "\n".join(
        (
            HEAD.format(program=PROGRAM_NAME, function=FUNCTION, default=DEFAULT_COMMAND),
            *(
                _line(f"{FUNCTION}_first", f"-a {each.name} -d {_quoted(each.help)}")
                for each in commands
            ),
            *(line for each in commands for line in _lines(each)),
        )
    )


def _lines(command: CommandWords) -> Iterator[str]:
    condition = f"{FUNCTION}_is {command.name}"
    if command.values:
        yield _line(condition, f"-a {_quoted(' '.join(command.values))}")
    for flag in command.flags:
        yield _line(condition, _options(flag))
    yield _line(condition, "-l help -d 'Show the help of the command'")


def _options(flag: FlagWords) -> str:
    parts = [f"-l {flag.name}"]
    if flag.short:
        parts.append(f"-s {flag.short}")
    if flag.is_file:
        parts.append("-r -F")
    elif flag.takes_value:
        parts.append("-x")
    if flag.values:
        parts.append(f"-a {_quoted(' '.join(flag.values))}")
    return " ".join((*parts, f"-d {_quoted(flag.help)}"))


def _line(condition: str, options: str) -> str:
    return f"complete -c {PROGRAM_NAME} -n {_quoted(condition)} {options}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
