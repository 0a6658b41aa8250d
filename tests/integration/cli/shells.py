"""Ask a shell what it would complete, with the script that the program prints for it."""

import os
import pty
import subprocess
from contextlib import suppress
from pathlib import Path
from select import select

from reporter import PROGRAM_NAME
from reporter.cli.command import all_commands
from reporter.cli.completion import RENDERERS


TIMEOUT = 60
PATH = "/usr/local/bin:/usr/bin:/bin"

BASH = """
source {script}
COMP_WORDS=({words})
COMP_CWORD={last}
_{function}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""

ZSHRC = """
PROMPT= RPROMPT=
autoload -Uz compinit && compinit -u -d {folder}/dump
source {script}
compadd() {{
  local -a found
  builtin compadd -O found "$@"
  print -rl -- $found >> {folder}/found
  builtin compadd "$@"
}}
finish() {{ exit }}
zle -N finish
bindkey '^I' complete-word
bindkey '^X' finish
"""
"""
zsh completes in a terminal alone, by its builtin compadd: here it writes what it is given into a file.
"""


def script_of(shell: str, folder: Path) -> Path:
    path = folder / f"completion.{shell}"
    path.write_text(RENDERERS[shell](all_commands()))
    return path


def ask_bash(bash: str, folder: Path, *words: str) -> list[str]:
    """Return what bash completes the last word to."""
    quoted = " ".join(f"'{word}'" for word in (PROGRAM_NAME, *words))
    program = BASH.format(
        script=script_of("bash", folder),
        words=quoted,
        last=len(words),
        function=PROGRAM_NAME.replace("-", "_"),
    )
    return _run(bash, "--norc", "-c", program).split()


def ask_fish(fish: str, folder: Path, line: str) -> list[str]:
    """Return what fish completes a line to, without the descriptions."""
    script = script_of("fish", folder)
    program = f"source {script}; complete -C '{PROGRAM_NAME} {line}'"
    found = _run(fish, "--no-config", "-c", program, HOME=str(folder))
    return [each.partition("\t")[0] for each in found.splitlines()]


def ask_zsh(zsh: str, folder: Path, line: str) -> set[str]:
    """Return what zsh offers for the end of a line."""
    (folder / "found").write_text("")
    content = ZSHRC.format(folder=folder, script=script_of("zsh", folder))
    (folder / ".zshrc").write_text(content)
    ours, theirs = pty.openpty()
    environ = {"PATH": PATH, "TERM": "vt100", "HOME": str(folder), "ZDOTDIR": str(folder)}
    with subprocess.Popen(
        [zsh, "-d", "-i"],
        env=environ,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        os.write(ours, f"{PROGRAM_NAME} {line}\t\x18".encode())
        with suppress(OSError):  # the terminal ends with its last process
            while select([ours], [], [], TIMEOUT)[0] and os.read(ours, 4096):
                pass
        os.close(ours)  # it ends with its terminal
        process.wait(TIMEOUT)
    return {each for each in (folder / "found").read_text().splitlines() if each}


def _run(*words: str, **environ: str) -> str:
    done = subprocess.run(
        words,
        env={"PATH": PATH, "TERM": "dumb", **environ},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout
