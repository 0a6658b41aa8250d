"""The command ``dump``: write what is read of a cluster, without secrets, to evaluate it elsewhere."""

import sys
from collections.abc import Mapping

from reporter import PROGRAM_NAME, PROGRAM_VERSION
from reporter.cli import command
from reporter.cli.cluster_opener import ClusterOpener
from reporter.cli.event_loop import run_asking
from reporter.cli.output import ExitCode, Terminal
from reporter.cli.reporter_flags import describe_files
from reporter.cli.source_arguments import KUBECONFIG, parse_target
from reporter.kube.errors import KubeError
from reporter.kube.stack_dump import DumpedKind, render_begin
from reporter.settings import Arguments, Flag, SettingsError
from reporter.status.dump_writer import DumpWriter
from reporter.status.observations import describe_only_in
from reporter.status.one_shot import cannot_read_after
from reporter.status.source import Target


def _run(arguments: Arguments, environ: Mapping[str, str]) -> int:
    target = parse_target(arguments.names, arguments.values["namespace"])
    if target.name:
        raise SettingsError("", f"{target}: a dump is of a whole namespace; leave the name out")
    terminal = Terminal(environ, arguments)
    opener = ClusterOpener(arguments, target, environ, terminal)
    return run_asking(_dump(opener, target, terminal), terminal)


async def _dump(opener: ClusterOpener, target: Target, terminal: Terminal) -> int:
    out = sys.stdout.buffer
    try:
        async with opener.connected() as (api, _, clock):
            out.write(render_begin(f"{PROGRAM_NAME} {PROGRAM_VERSION}"))
            found = await opener.load_of_cluster(api)
            for text in describe_files(found.missing_files, found.settings, taken=SETTINGS):
                terminal.note(text)
            writer = DumpWriter(
                api, clock, out.write, namespace=target.namespace, on_progress=terminal.progress
            )
            end = await writer.run(
                found.catalogue,
                flags=found.flags,
                silences=found.silences,
                missing_files=found.missing_files,
            )
        out.flush()
    except KubeError as err:
        raise cannot_read_after(err) from err
    except BrokenPipeError:
        raise
    except OSError as err:
        terminal.error(f"the dump cannot be written: {err.strerror or err}")
        return ExitCode.NO_ANSWER
    for text in filter(None, map(_describe_gap, end.kinds)):
        terminal.note(text)
    if any(each.only_in for each in end.kinds):
        terminal.note(describe_only_in(target.namespace))
    return ExitCode.MET


def _describe_gap(said: DumpedKind) -> str:
    """Return what the dump has not of a kind; empty if it has all."""
    if said.not_served:
        return f"{said.resource}: not served"
    return f"{said.resource}: {said.unread}" if said.unread else ""


SETTINGS = frozenset({KUBECONFIG, "packs", "catalogue-overlay"})
NAMESPACE = Flag("namespace", "The namespace, as NS.", "NS", short="n")

DUMP = command.Command(
    run=_run,
    summary="Write what is read of a cluster, without secrets, as a file.",
    usage="dump [NS] [FLAGS] > stack.yaml",
    about="""\
For --from=file:stack.yaml of status, explain and check, at another time and
place. Each line is a YAML document with one object in it; the last one says
what was read, and what was not, which then is Unknown. Without Secrets, values
of environment variables, and what else looks like a secret. With NS: that
namespace alone, where the objects of all namespaces may not be listed.""",
    examples=(
        ("dump > stack.yaml", "the current cluster"),
        ("dump -n team-a > team-a.yaml", "with the rights of one namespace"),
    ),
    flags=(NAMESPACE, command.QUIET, *command.ACCESS),
    settings=SETTINGS,
    notes="""\
--kubeconfig names the kubeconfig, as for run; --packs and --catalogue-overlay
name the catalogue, whose kinds are written. If the cluster has a reporter, its
flags apply unless they are given here, and are written for who evaluates.

Exit codes: 0 written, 1 nothing could be read or written, 2 something given is
refused.""",
)
