"""
What ``--help`` prints.
"""

from collections.abc import Iterator
from textwrap import wrap

from reporter.settings import FLAGS, Flag, FlagGroup


PROGRAM = "productionstack-status-reporter"
WIDTH = 80
INTRODUCTION = f"""\
Say once, as Kubernetes Events, why a KAITO production stack does not serve.

Usage:
  {PROGRAM} [run] [FLAGS]
  {PROGRAM} demo|check-config|version

Commands:
  run           Watch a cluster and write Events; also without a command.
  demo          Show it at work on an example stack, with no cluster at hand.
  check-config  Check flags, catalogue and overlay, and tell what is in effect.
  version       Tell which version this is."""
CLOSING = """\
A flag may have one dash or two, and is written --flag=value. A boolean one may
stand alone, --leader-elect, which is --leader-elect=true.
Each flag may be given as an environment variable too, --resync-seconds as
STATUS_REPORTER_RESYNC_SECONDS; the flag wins. POD_NAME and POD_NAMESPACE tell
who and where we are: Events carry the one, the Lease is in the other.
DEPLOYMENT_NAME tells what runs the pod: the Lease is removed together with it.

Exit codes: 0 it ended as told, 1 it failed, 2 the configuration is refused."""


def render_help() -> str:
    return "\n\n".join((INTRODUCTION, *(_render_group(group) for group in FlagGroup), CLOSING))


def _render_group(group: FlagGroup) -> str:
    lines = [line for flag in FLAGS if flag.group is group for line in _render_flag(flag)]
    return "\n".join((f"{group.value}:", *lines))


def _render_flag(flag: Flag) -> Iterator[str]:
    yield f"  --{flag.name}={flag.default}"
    yield from wrap(flag.help, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
