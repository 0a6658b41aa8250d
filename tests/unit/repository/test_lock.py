"""Every installed dependency is pinned."""

import re
from pathlib import Path


LOCK = Path(__file__).parents[3] / "requirements.lock"


def test_every_dependency_is_pinned_with_its_hashes():
    entries = LOCK.read_text("utf-8").replace("\\\n", " ").splitlines()
    entries = [entry for entry in entries if entry.strip() and not entry.startswith("#")]
    assert len(entries) > 20
    pinned = r"[a-z0-9._-]+(\[[a-z,]+\])?==[^\s;]+( ; [^\\]+?)?(\s+--hash=sha256:[0-9a-f]{64})+\s*"
    assert [entry for entry in entries if not re.fullmatch(pinned, entry)] == []


def test_nothing_is_installed_without_its_hash():
    makefile = (LOCK.parent / "Makefile").read_text("utf-8")
    installs = [line for line in makefile.splitlines() if "pip install" in line]
    assert installs
    assert all("--require-hashes" in line or "--no-deps" in line for line in installs)
