"""The Kubernetes client without its synchronous half."""

import subprocess
import sys


UNUSED = ("kubernetes.client", "kubernetes.dynamic", "oauthlib", "requests", "charset_normalizer")

PROGRAM = f"""
import sys
import reporter.app, reporter.job.command, reporter.cli.status.command
print([name for name in {UNUSED!r} if name in sys.modules])
"""


def test_the_program_loads_no_synchronous_client():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_package_that_is_imported_already_stays():
    program = "import kubernetes; before = kubernetes; import reporter.kube, sys; print(sys.modules['kubernetes'] is before)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "True"
