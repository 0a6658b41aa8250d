"""
Render the text of ``--help``.
"""

from collections.abc import Iterator
from textwrap import wrap

from reporter import PROGRAM_NAME
from reporter.settings import FLAGS, Flag, FlagGroup


WIDTH = 80
INTRODUCTION = f"""\
Report as Kubernetes Events why a KAITO production stack does not serve.

Usage:
  {PROGRAM_NAME} [run] [FLAGS]
  {PROGRAM_NAME} hub --hub-query-url=URL [FLAGS]
  {PROGRAM_NAME} status|wait|explain [NAME] [FLAGS]
  {PROGRAM_NAME} job-status
  {PROGRAM_NAME} demo|check-config|version

Commands:
  run           Watch a cluster and write Events. The default command.
  hub           Answer for many clusters by their metrics in one engine.
  status        Show the status of the cluster, a namespace or an InferenceSet.
  wait          Wait until one of them is as wanted, as a pipeline does.
  explain       Explain a reason, or what blocks a subject.
                Each of the three has a --help of its own.
  job-status    As the sidecar of a Job, write the result of its other container
                into the status of the Job. Has a --help of its own, and is the
                default command where JOB_NAME and POD_NAME are set.
  demo          Run it against an example stack; needs no cluster.
  check-config  Check flags, catalogue and overlay, and print what is in effect.
  version       Print the version."""
CLOSING = """\
Flags start with one dash or two: --flag=value. A boolean flag needs no value:
--leader-elect means --leader-elect=true.

Each flag can be set by an environment variable too: --resync-seconds by
STATUS_REPORTER_RESYNC_SECONDS. The flag wins. Three more variables:
  POD_NAME         Name of the pod; its Events carry it.
  POD_NAMESPACE    Namespace of the Lease.
  DEPLOYMENT_NAME  Deployment that owns the Lease, so that both are deleted
                   together.

Exit codes: 0 stopped as requested, 1 failed, 2 configuration refused."""


def render_help() -> str:
    return "\n\n".join((INTRODUCTION, *(_render_group(group) for group in FlagGroup), CLOSING))


def _render_group(group: FlagGroup) -> str:
    lines = [line for flag in FLAGS if flag.group is group for line in _render_flag(flag)]
    return "\n".join((f"{group.value}:", *lines))


def _render_flag(flag: Flag) -> Iterator[str]:
    yield f"  --{flag.name}={flag.default}"
    yield from wrap(flag.help, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
