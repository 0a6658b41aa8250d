"""
The process as a user without an entry in /etc/passwd and without HOME, as OpenShift runs containers.
"""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import reporter
from devcluster.server import DevCluster
from tests.integration.process.test_confinement import answering
from tests.support.ports import free_port


UNKNOWN_USER = ("unshare", "--user", "--map-user=123456")
NO_ENTRY = """
import pwd


def getpwuid(uid):
    raise KeyError(f"getpwuid(): uid not found: {uid}")


pwd.getpwuid = getpwuid
"""
LOOK = "import os, pwd; print(os.environ.get('HOME')); pwd.getpwuid(os.getuid())"


@pytest.fixture
def unknown_user(tmp_path: Path) -> tuple[tuple[str, ...], dict[str, str]]:
    """
    Return the command and the environment of a user that nobody knows.

    Where user namespaces are not allowed, the entry in /etc/passwd is hidden.
    """
    source = str(Path(reporter.__file__).parents[1])
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": source, "POD_NAMESPACE": "kube-system"}
    try:
        subprocess.run([*UNKNOWN_USER, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        (tmp_path / "sitecustomize.py").write_text(NO_ENTRY)
        return (), environment | {"PYTHONPATH": f"{tmp_path}:{source}"}
    return UNKNOWN_USER, environment


def run_python(unknown_user, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    command, env = unknown_user
    return subprocess.run(
        [*command, sys.executable, *arguments],
        env=env | environment,
        cwd="/",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_user_of_these_tests_is_unknown(unknown_user):
    done = run_python(unknown_user, "-c", LOOK)
    assert done.stdout == "None\n"
    assert "uid not found" in done.stderr


async def test_the_reporter_runs_as_an_unknown_user_without_a_home(unknown_user, tmp_path):
    port = free_port()
    async with DevCluster() as server:
        server.load_example_stack()
        command, env = unknown_user
        process = await asyncio.create_subprocess_exec(
            *(*command, sys.executable, "-m", "reporter.cli", "run"),
            f"--kubeconfig={server.write_kubeconfig(tmp_path / 'kubeconfig')}",
            "--metrics-bind-address=0",
            f"--health-probe-bind-address=127.0.0.1:{port}",
            cwd="/",
            env=env,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            ready = await answering(f"http://127.0.0.1:{port}/readyz")
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
            _, log = await asyncio.wait_for(process.communicate(), 60)
    assert (ready, process.returncode) == ("ok\n", 0), log.decode()


@pytest.mark.parametrize(
    ("arguments", "environment", "complaint"),
    [
        (["run"], {}, "no cluster: not in a pod"),
        (["run", "--kubeconfig=~/config"], {}, "--kubeconfig"),
        (["run", "--kubeconfig=~nobody-like-this/config"], {}, "--kubeconfig"),
        (["run"], {"KUBECONFIG": "/nowhere"}, "kubeconfig /nowhere"),
    ],
)
def test_a_wrong_configuration_is_refused_with_what_is_wrong(
    unknown_user, arguments, environment, complaint
):
    done = run_python(unknown_user, "-m", "reporter.cli", *arguments, **environment)
    assert done.returncode == 2, done.stderr
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
