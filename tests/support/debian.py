"""Programs that tests need and Debian has packages of: find them, or install them."""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar


Found = TypeVar("Found")
APT = "apt-get"


class ProgramMissing(Exception):
    """A program is not installed; the text has what to do."""


@dataclass(frozen=True, slots=True)
class Packages:
    """*names*: of the packages. *elsewhere*: what to do where there is no apt-get."""

    names: tuple[str, ...]
    elsewhere: str

    @property
    def command(self) -> tuple[str, ...]:
        return (APT, "install", "-y", "--no-install-recommends", "--no-remove", *self.names)

    @property
    def how(self) -> str:
        return f"On Debian: {' '.join(self.command)}\n{self.elsewhere}"

    def find_or_install(self, find: Callable[[], Found]) -> Found:
        """
        Return what *find* returns, after installing it where that needs nobody's password: root,
        apt-get.
        """
        try:
            return find()
        except ProgramMissing:
            if os.geteuid() != 0 or shutil.which(APT) is None:
                raise
        for command in ((APT, "update"), self.command):
            ended = subprocess.run(
                command,
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                capture_output=True,
                text=True,
                check=False,
            )
            if ended.returncode != 0:
                raise ProgramMissing(
                    f"{' '.join(command)} failed:\n{ended.stderr.strip()}\n{self.how}"
                )
        return find()

    def main(self, find: Callable[[], tuple[str, ...]], *, name: str, description: str) -> int:
        """Find or install the programs for the command line, and print their paths."""
        parser = argparse.ArgumentParser(
            prog=f"python -m tests.support.{name}", description=description
        )
        parser.add_argument("--quiet", action="store_true", help="print only what is missing")
        arguments = parser.parse_args()
        try:
            found = self.find_or_install(find)
        except ProgramMissing as err:
            sys.stderr.write(f"\nNO {name.upper()}\n{err}\n\n")
            return 1
        if not arguments.quiet:
            sys.stdout.write("".join(f"{path}\n" for path in found))
        return 0
