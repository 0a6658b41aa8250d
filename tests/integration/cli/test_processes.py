"""Signals, closed pipes and imports of the command line, which only a real process shows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.stubs.certificates import a_certificate


LOADED = """
import sys
from reporter.cli import commands
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


LOADED_BY_STATUS = """
import sys
from reporter.cli.command import find_command
find_command("status")
print("\\n".join(sys.modules))
"""
NOT_FOR_ONE_TABLE = (
    "prometheus_client",
    "reporter.cli.fleet",
    "reporter.cli.history",
    "reporter.metrics.collectors",
    "reporter.scrape.scraper",
    "reporter.status.dump",
    "reporter.status.junit",
    "reporter.status.watching",
    "xml.etree",
)
AUTHORITIES = """
import os
from reporter.cli.command import find_command
find_command("status")
from aiohttp import connector
from reporter.kube.tls import verifying_context
print(connector._SSL_CONTEXT_VERIFIED.cert_store_stats()["x509_ca"])
print(verifying_context().cert_store_stats()["x509_ca"])
print(os.environ["SSL_CERT_FILE"])
"""


def test_status_loads_what_one_table_of_a_cluster_needs():
    done = subprocess.run(
        [sys.executable, "-c", LOADED_BY_STATUS],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    loaded = done.stdout.splitlines()
    assert "reporter.status.one_shot" in loaded
    assert [each for each in loaded if each.startswith(NOT_FOR_ONE_TABLE)] == []


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
