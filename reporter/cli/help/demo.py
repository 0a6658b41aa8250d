"""
The help of the command ``demo``.
"""

from reporter import PROGRAM_NAME


HELP = f"""\
Show the reporter at work on an example stack, with no cluster at hand.

Usage:
  {PROGRAM_NAME} demo

Starts a small Kubernetes API server with a healthy production stack on
127.0.0.1 and runs the reporter against it. Then it breaks and repairs parts of
the stack and prints the Events that the reporter writes. It also prints the
path of a kubeconfig, so that you can inspect and break more with your kubectl.

{{examples}}

On a terminal it runs until Ctrl-C, otherwise it ends after the last scenario.
NO_COLOR switches colours off. Files are under XDG_CACHE_HOME or ~/.cache.

Exit codes: 0 all expected Events came, 1 one was missing or the reporter ended,
2 it is not part of this installation, 130 after Ctrl-C."""


def render_help(examples: str) -> str:
    return HELP.format(examples=examples)
