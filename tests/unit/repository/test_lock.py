"""Every installed dependency is pinned."""

import re
import subprocess
from pathlib import Path

import pytest


ROOT = Path(__file__).parents[3]
LOCK = ROOT / "requirements.lock"
LOCKS = sorted(ROOT.glob("requirements*.lock"))
TAKEN_BY_RENOVATE = {
    *("--generate-hashes", "--universal", "--python-version", "--extra", "--group"),
    *("--constraint", "--output-file"),
}
"""Flags of uv that its manager pip-compile takes (lib/modules/manager/pip-compile/common.ts)."""


def test_every_dependency_is_pinned_with_its_hashes():
    entries = LOCK.read_text("utf-8").replace("\\\n", " ").splitlines()
    entries = [entry for entry in entries if entry.strip() and not entry.startswith("#")]
    assert len(entries) > 20
    pinned = r"[a-z0-9._-]+(\[[a-z,]+\])?==[^\s;]+( ; [^\\]+?)?(\s+--hash=sha256:[0-9a-f]{64})+\s*"
    assert [entry for entry in entries if not re.fullmatch(pinned, entry)] == []


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_each_lock_names_the_command_that_renews_it(lock: Path):
    """Renovate runs it, and takes no flag without a value that is not joined to it."""
    command = re.search(r"^#    (uv pip compile .*)$", lock.read_text("utf-8"), re.MULTILINE)
    assert command
    printed = subprocess.run(
        ["make", "--dry-run", "lock"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert command[1] in printed.stdout.splitlines()
    flags = {word.partition("=")[0] for word in command[1].split() if word.startswith("-")}
    assert flags <= TAKEN_BY_RENOVATE


def test_nothing_is_installed_without_its_hash():
    makefile = (LOCK.parent / "Makefile").read_text("utf-8")
    installs = [line for line in makefile.splitlines() if "pip install" in line]
    assert installs
    assert all("--require-hashes" in line or "--no-deps" in line for line in installs)
