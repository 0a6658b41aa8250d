"""The entry points of the process: they load a command, run it, and turn signals into exit codes."""

import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType

from reporter.cli.command_names import ASKING_COMMANDS, AUTHORING_COMMANDS
from reporter.process.imports import uncollected_imports


Command = Callable[[Sequence[str], Mapping[str, str]], int]


INTERRUPTED_EXIT_CODE = 130
"""Exit code that shells report for a process that SIGINT ended."""

STOP_EXIT_CODES = {signal.SIGTERM: 0, signal.SIGINT: INTERRUPTED_EXIT_CODE}
"""The exit codes after a stop by signal. SIGTERM is how Kubernetes stops a pod: no failure."""

TERMINATED_EXIT_CODE = 143
"""
Exit code that shells report for a process that SIGTERM ended.

A question without an answer does not end with 0.
"""


def main() -> None:
    """Run the command that the command line names, and end the process with its exit code."""
    asking = ASKING_COMMANDS | AUTHORING_COMMANDS
    run_process(_command("run_command"), asks=bool(asking & {*sys.argv[1:2]}))


def main_plugin() -> None:
    """Run as the kubectl plugin ``kubectl productionstack-status``."""
    run_process(_command("run_plugin"), asks=True)


def main_plugin_completion() -> None:
    """
    Run as ``kubectl_complete-productionstack_status``, which kubectl asks for completions of the plugin.
    """
    run_process(_command("run_plugin_completion"), asks=True)


def _command(name: str) -> Callable[[], Command]:
    def load() -> Command:
        with uncollected_imports():
            from reporter.cli import command_line  # noqa: PLC0415

        command: Command = getattr(command_line, name)
        return command

    return load


def run_process(load: Callable[[], Command], *, asks: bool) -> None:
    """
    Run a command, and end the process with its exit code, also after a signal or a closed pipe.

    *load* imports the command. A signal meanwhile ends the process after the imports: some libraries swallow
    KeyboardInterrupt while they are imported, and one that passes through an ``exec`` of text, as dataclasses
    have it, ends CPython by SIGINT even if it is caught (``run_eval_code_obj`` in Python/pythonrun.c).
    """
    stop_codes = STOP_EXIT_CODES | ({signal.SIGTERM: TERMINATED_EXIT_CODE} if asks else {})
    received: list[signal.Signals] = []
    command: Command | None = None
    code = 0

    def stop(number: int, frame: FrameType | None) -> None:
        """
        End a process that has not started its event loop, whose own handlers replace this one.
        """
        received.append(signal.Signals(number))
        if command is not None:
            raise KeyboardInterrupt

    for each in stop_codes:
        signal.signal(each, stop)
    _reopen_closed_streams()
    try:
        command = load()
        code = stop_codes[received[0]] if received else command(sys.argv[1:], os.environ)
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = stop_codes[received[0]] if received else INTERRUPTED_EXIT_CODE
    except BrokenPipeError:
        # The reader of a pipe closed it, as head does. Python must not report that at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    _discard_unflushed()
    sys.exit(code)


def _reopen_closed_streams() -> None:
    """
    Open closed standard streams on /dev/null.

    Otherwise the first socket gets a stream's file descriptor, and warnings are written into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115  open until the process ends


def _discard_unflushed() -> None:
    """
    Flush the streams, or point them to /dev/null if that fails.

    Python exits with 120 if it cannot flush them itself, for example into a closed pipe.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()
