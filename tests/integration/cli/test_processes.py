"""Signals, closed pipes and imports of the command line, which only a real process shows."""

import asyncio
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from devcluster import DevCluster
from reporter import PROGRAM_VERSION
from tests.support.stubs.certificates import a_certificate


LOADED = """
import sys
from reporter.cli import command_line
from reporter.job import command
print("\\n".join(sys.modules))
"""
TOO_MUCH = (
    "kubernetes",
    "prometheus_client",
    "reporter.catalogue",
    "reporter.kube.reflector",
    "reporter.evaluation.registry",
)


def test_a_closed_pipe_is_no_failure():
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as closed:
        ended = subprocess.run(
            [sys.executable, "-m", "reporter.cli", "--help"],
            stdout=closed,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize("name", ["test", "lint"])
def test_a_command_that_is_stopped_does_not_end_with_success(name: str, tmp_path: Path):
    for number in range(1000):
        (tmp_path / f"{number}.yaml").write_text("story: 1\n")
    command = [sys.executable, "-m", "reporter.cli", name, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    # It has more to write than a pipe holds, so it waits for its reader.
    assert process.stdout.read(1)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 143


def test_only_the_light_part_of_the_client_is_loaded():
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = done.stdout.splitlines()
    assert "reporter.kube.client" in loaded
    assert [each for each in loaded if each.startswith(TOO_MUCH)] == []


LOADED_BY = """
import os, sys
from reporter.cli.command_line import run_command
code = run_command(sys.argv[1:], os.environ)
print("\\n".join(sys.modules), file=sys.stderr)
sys.exit(code)
"""
NETWORK = (
    "aiohttp",
    "attr",
    "email.message",
    "reporter.kube.connect",
    "reporter.kube.kubeconfig",
    "reporter.kube.rest_config",
    "reporter.kube.transport",
)
"""Imported by what connects to an API server or to a reporter, which is a third of its start."""

RUN_ALONE = (
    "prometheus_client",
    "reporter.app",
    "reporter.controller.permissions",
    "reporter.kube.elector",
    "reporter.kube.reflector",
    "reporter.metrics.input_collectors",
    "reporter.scrape.scraper",
)
EXPRESSIONS = ("cel_expr_python", "reporter.cel.compile", "reporter.cel.evaluation")
ONE_TABLE = (
    *RUN_ALONE,
    *EXPRESSIONS,
    "importlib.metadata",
    "reporter.cli.fleet",
    "reporter.cli.history",
    "reporter.hub",
    "reporter.kinds.nvsentinel",
    "reporter.status.junit",
    "reporter.status.watching",
    "xml.etree",
)
ONE_CLUSTER = (
    *ONE_TABLE,
    "html",
    "reporter.kube.event_format",
    "reporter.kube.events",
    "reporter.kube.exec_plugin",
    "reporter.kube.stack_dump",
    "reporter.status.dump",
)
"""Not imported for a cluster whose kubeconfig runs no plugin, and of which all namespaces may be read."""

NO_LOOP = (*NETWORK, "asyncio", "reporter.rollup.fold", "ssl")

NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: { name: team-a }\n"
STORY = """\
why: A namespace without the label is no workload namespace.
of: [modelharnessGatewayClassMissing]
story:
  - at: 1m
    change:
      Namespace other: {}
announced: {}
"""
SILENCE = ("team-a/qwen", "inferencesetModelPodsNotReady", "--until=1h", "--why=x", "--by=me")


@pytest.mark.parametrize(
    ("argv", "needs", "needs_not"),
    [
        (("status", "--from=file:dump.yaml"), "reporter.status.dump", (*ONE_TABLE, *NETWORK)),
        (("explain", "clusterBBRNotReady"), "yaml", (*ONE_TABLE, *NO_LOOP)),
        (("check-config",), "yaml", (*RUN_ALONE, *EXPRESSIONS, *NO_LOOP)),
        (("silence", *SILENCE), "yaml", (*ONE_TABLE, *NO_LOOP)),
        (("lint", "story.yaml"), "reporter.cel.compile", (*RUN_ALONE, *NETWORK, "asyncio")),
        (("test", "story.yaml"), "reporter.rollup.fold", (*RUN_ALONE, *NETWORK, "asyncio")),
        (("version",), "msgspec", (*ONE_TABLE, "aiohttp", "asyncio", "yaml")),
        (("run", "--help"), "msgspec", (*ONE_TABLE, *NO_LOOP, "yaml")),
    ],
    ids=["status", "explain", "check-config", "silence", "lint", "test", "version", "run-help"],
)
def test_a_command_loads_what_it_needs(
    argv: tuple[str, ...], needs: str, needs_not: tuple[str, ...], tmp_path: Path
):
    (tmp_path / "dump.yaml").write_text(NAMESPACE)
    (tmp_path / "story.yaml").write_text(STORY)
    done = _run(argv, tmp_path)
    loaded = done.stderr.splitlines()
    assert done.returncode == 0, f"{done.stdout}{done.stderr[:400]}"
    assert needs in loaded
    assert _among(loaded, needs_not) == []
    assert all(map(find_spec, needs_not)), "one of them has another name now"


async def test_status_loads_what_one_table_of_a_cluster_needs(tmp_path: Path):
    async with DevCluster() as server:
        server.load_example_stack()
        server.write_kubeconfig(tmp_path / "kubeconfig")
        argv = ("status", "--from=cluster", "--kubeconfig=kubeconfig")
        done = await asyncio.to_thread(_run, argv, tmp_path)
    loaded = done.stderr.splitlines()
    assert done.returncode == 0, done.stderr[:400]
    assert "reporter.status.one_shot_cluster" in loaded
    assert _among(loaded, ONE_CLUSTER) == []
    assert all(map(find_spec, ONE_CLUSTER)), "one of them has another name now"


def test_the_version_is_printed(tmp_path: Path):
    assert _run(("version",), tmp_path).stdout.split() == [PROGRAM_VERSION]


def _run(argv: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    root = str(Path(__file__).parents[3])
    return subprocess.run(
        [sys.executable, "-c", LOADED_BY, *argv],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": root},
        timeout=60,
    )


def _among(loaded: list[str], names: tuple[str, ...]) -> list[str]:
    """Return what is loaded of these modules, and of what is in them."""
    return [each for each in loaded if any(f"{each}.".startswith(f"{name}.") for name in names)]


AUTHORITIES = """
import os
from reporter.process.imports import uncollected_imports
with uncollected_imports():
    from reporter.cli import cluster_opener
from aiohttp import connector
from reporter.kube.tls import verifying_context
print(connector._SSL_CONTEXT_VERIFIED.cert_store_stats()["x509_ca"])
print(verifying_context().cert_store_stats()["x509_ca"])
print(os.environ["SSL_CERT_FILE"])
"""


LOADED_BY_RUN = """
from reporter.process.imports import uncollected_imports
with uncollected_imports():
    import reporter.app
import sys
print("\\n".join(sys.modules))
import bz2, lzma
"""
NOT_BY_RUN = (
    "aiohttp.web",
    "argparse",
    "bz2",
    "lzma",
    "reporter.cel.compile",
    "reporter.history",
    "reporter.hub",
    "reporter.stories",
)
"""More than a MiB of each pod, for what it does not do, or not without a flag."""


def test_the_controller_loads_what_it_needs_without_further_flags():
    done = subprocess.run(
        [sys.executable, "-c", LOADED_BY_RUN],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    loaded = done.stdout.splitlines()
    assert {"reporter.server.server", "shutil"} <= {*loaded}
    assert _among(loaded, NOT_BY_RUN) == []
    assert all(map(find_spec, NOT_BY_RUN)), "one of them has another name now"


LIBRARIES = """
from reporter.process.imports import uncollected_imports
with uncollected_imports():
    import reporter.app
import os
with open("/proc/self/maps") as maps:
    print("libstdc++" in maps.read(), "FROZENLIST_NO_EXTENSIONS" in os.environ)
"""


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc, for what is loaded")
def test_no_library_of_cxx_is_loaded_for_a_few_lists():
    done = subprocess.run(
        [sys.executable, "-c", LIBRARIES], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == ["False", "False"]


def test_the_authorities_of_the_system_are_read_by_what_verifies_with_them(tmp_path: Path):
    """Reading them takes 40 ms, which a command about a cluster with its own does not need."""
    authority, _ = a_certificate(tmp_path, "authority")
    done = subprocess.run(
        [sys.executable, "-c", AUTHORITIES],
        env={
            **os.environ,
            "SSL_CERT_FILE": str(authority),
            "SSL_CERT_DIR": str(tmp_path / "none"),
        },
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == ["0", "1", str(authority)]
