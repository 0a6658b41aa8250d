"""
Run a cluster with a real node: `prepare` what it needs, `hold` one until it is interrupted, or run the `suite`
on one.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from e2e.controlplane import assets
from e2e.controlplane.golang import BuildFailed
from e2e.node import images, requirements
from e2e.node.release import Release, installed
from e2e.suite.cluster import DEDICATED_LABEL
from e2e.support.production_stack.components import NODE_PROVISIONER
from tests.support.debian import ProgramMissing


HEARTBEAT, QUIET = 20, 40
"""Seconds, and those in which a heartbeat would come: shorter than on a cluster of users, to save time."""

SUITE_VALUES = (
    f"--set=extraArgs={{--heartbeat-seconds={HEARTBEAT}}}",
    "--set=sources={jobs}",
    "--set=statusBindAddress=:8082",
    f"--set=controlPlane.nodeProvisioner.name={NODE_PROVISIONER.name}",
    f"--set=controlPlane.nodeProvisioner.namespace={NODE_PROVISIONER.namespace}",
)
"""Values besides the defaults, which the suite expects."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m e2e.node", description=__doc__)
    commands = parser.add_subparsers(required=True)
    prepare = commands.add_parser("prepare", help="install and build what is missing")
    prepare.add_argument(
        "--quiet", action="store_true", help="print only what is missing or built"
    )
    prepare.set_defaults(run=lambda given: _prepare(quiet=given.quiet))
    hold = commands.add_parser("hold", help="start one with stack and chart; print its kubeconfig")
    hold.set_defaults(run=lambda given: _hold())
    suite = commands.add_parser("suite", help="run e2e/suite on one; words after -- go to pytest")
    suite.add_argument("words", nargs="*")
    suite.set_defaults(run=lambda given: _suite(given.words))
    given = parser.parse_args()
    try:
        return int(given.run(given))
    except (ProgramMissing, assets.AssetsMissing, BuildFailed) as err:
        print(f"\nNO REAL NODE\n{err}\n", file=sys.stderr)
        return 1


def _prepare(*, quiet: bool) -> int:
    found = [*requirements.PACKAGES.find_or_install(requirements.find_requirements)]
    assets.find_or_build()
    found += [assets.program(each.name) for each in assets.NODE]
    found += [str(each) for each in images.archives()]
    if not quiet:
        print("\n".join(found))
    return 0


def _hold() -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt), _running() as release:
        print(f"export KUBECONFIG={release.cluster.plane.kubeconfig()}", flush=True)
        signal.pause()
    return 0


def _suite(words: list[str]) -> int:
    with _running(*SUITE_VALUES) as release:
        label = {"metadata": {"labels": {DEDICATED_LABEL: "true"}}}
        release.cluster.client.patch("/api/v1/namespaces/kube-system", label)
        kubeconfig = release.cluster.plane.kubeconfig()
        given = (f"--kubeconfig={kubeconfig}", f"--quiet-seconds={QUIET}")
        command = [sys.executable, "-m", "pytest", "e2e/suite", *given]
        return subprocess.run([*command, *words], check=False).returncode


@contextmanager
def _running(*values: str) -> Iterator[Release]:
    requirements.find_requirements()
    with tempfile.TemporaryDirectory() as home, installed(Path(home), *values) as release:
        yield release


if __name__ == "__main__":
    sys.exit(main())
