"""The files of the image: Python and what it loads, and nothing with which an intruder could go on."""

import os
import re
import stat
from pathlib import Path

import pytest

from e2e.image import IMAGE
from e2e.image.container import RuncContainer
from e2e.image.storage import Entry, Storage


TOP_FOLDERS = {"etc", "packages", "tmp", "usr", "var"}
LINKS_TO_LIBRARIES = {"lib", "lib64"}
"""Links among the top folders, by which the loader is found."""

PROGRAMS = re.compile(r"python(3(\.\d+)?)?")
LOADED = re.compile(r"\.so(\.[\d.]+)?$")
CHANGES_USER = stat.S_ISUID | stat.S_ISGID
OF_DEBIAN = {
    "base-files",
    "ca-certificates",
    "libc6",
    "libgcc-s1",
    "libssl3t64",
    "tzdata",
    "zlib1g",
}
MIN_AUTHORITIES = 50

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def entries(storage: Storage) -> list[Entry]:
    return storage.contents(IMAGE)


def test_it_has_only_the_folders_of_python_and_of_the_program(entries: list[Entry]) -> None:
    found = {entry.parts[1] for entry in entries if len(entry.parts) > 1}
    assert found - LINKS_TO_LIBRARIES == TOP_FOLDERS
    var = {entry.path for entry in entries if entry.parts[1:2] == ("var",) and entry.is_file}
    assert {str(Path(path).parent) for path in var} == {"/var/lib/dpkg/status.d"}


def test_python_is_its_only_program(entries: list[Entry]) -> None:
    in_path = {entry.path for entry in entries if entry.parts[-2:-1] in {("bin",), ("sbin",)}}
    executable = {
        entry.path
        for entry in entries
        if entry.is_file and entry.mode & 0o111 and not LOADED.search(entry.path)
    }
    assert in_path
    assert [path for path in in_path | executable if not PROGRAMS.fullmatch(Path(path).name)] == []


def test_no_file_changes_the_user_and_all_belong_to_root(entries: list[Entry]) -> None:
    assert [entry.path for entry in entries if entry.mode & CHANGES_USER] == []
    assert {entry.owner for entry in entries} == {(0, 0)}
    writable = [entry for entry in entries if entry.mode & 0o022 and entry.content == ""]
    assert [entry.path for entry in writable] == ["/tmp"]


def test_scanners_find_the_packages_of_debian_and_their_licences(entries: list[Entry]) -> None:
    folder = Path("/var/lib/dpkg/status.d")
    paths = {Path(entry.path) for entry in entries}
    named = {path.name for path in paths if path.parent == folder}
    assert named >= OF_DEBIAN
    assert not named & {"apt", "bash", "dash", "dpkg", "perl-base", "coreutils"}


def test_each_library_is_of_a_package_that_is_named(storage: Storage) -> None:
    root = storage.mount(IMAGE)
    stanzas = [each.read_text("utf-8") for each in (root / "var/lib/dpkg/status.d").iterdir()]
    assert all(re.search("^Version: .", each, re.MULTILINE) for each in stanzas)
    assert all(re.search("^Status: install ok installed$", each, re.MULTILINE) for each in stanzas)
    libraries = {each.name for each in root.glob("usr/lib/*/lib*.so*")}
    assert {"libc.so.6", "libgcc_s.so.1", "libssl.so.3", "libcrypto.so.3"} <= libraries
    assert not [
        each for each in libraries if each.startswith(("libreadline", "libsqlite3", "libapt"))
    ]


def test_certificates_names_of_hosts_and_time_zones_are_found(
    storage: Storage, folder: Path
) -> None:
    hosts = folder / "hosts"
    hosts.write_text("192.0.2.7 kubernetes.example\n")
    container = RuncContainer(storage, IMAGE, folder, {"/etc/hosts": hosts})
    code = (
        "import datetime, socket, ssl, zoneinfo\n"
        "print(len(ssl.create_default_context().get_ca_certs()))\n"
        "print(socket.getaddrinfo('kubernetes.example', 443)[0][4][0])\n"
        "zone = zoneinfo.ZoneInfo('Europe/Zurich')\n"
        "print(datetime.datetime(2026, 7, 1, tzinfo=zone).utcoffset())\n"
    )
    container.start(code, env={}, program=("python3", "-c"))
    assert container.wait() == 0, container.output()
    authorities, address, offset = container.output().splitlines()
    assert int(authorities) >= MIN_AUTHORITIES
    assert (address, offset) == ("192.0.2.7", "2:00:00")


def test_a_thread_that_is_ended_with_the_process_does_not_abort_it(
    storage: Storage, folder: Path
) -> None:
    """libc loads a library for that only then."""
    code = (
        "import threading, time\n"
        "def work():\n"
        "    while True: time.sleep(0)\n"
        "for _ in range(8): threading.Thread(target=work, daemon=True).start()\n"
    )
    container = RuncContainer(storage, IMAGE, folder, {})
    container.start(code, env={}, program=("python3", "-c"))
    assert container.wait() == 0, container.output()


def test_a_shell_cannot_be_started(storage: Storage, folder: Path) -> None:
    container = RuncContainer(storage, IMAGE, folder, {})
    container.start("-c", "id", env={}, program=("sh",))
    assert container.wait() != os.EX_OK
    assert "executable file not found" in container.output()
