"""
The tutorials of docs/own-reasons.md and docs/packs.md: their files, and the commands that they give.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from e2e.controlplane import ControlPlane, until


DOCS = Path(__file__).parents[2] / "docs"
PAGE, PACKS_PAGE = DOCS / "own-reasons.md", DOCS / "packs.md"
NAMESPACE = "team-a"
"""The workload namespace of the page."""

_FILE = re.compile(r"```yaml\n# (?P<name>[a-z-]+(/[a-z-]+)*\.yaml)\n(?P<text>.*?)```", re.DOTALL)
_COMMANDS = re.compile(r"```sh\n(?P<text>.*?)```", re.DOTALL)


def run_kubectl(plane: ControlPlane, command: list[str]) -> None:
    """
    Run a command of a page. After a wait for a CRD, wait until kubectl finds its kind: discovery lags
    behind the condition.
    """
    plane.kubectl(*command)
    if command[0] == "wait":
        resource = command[-1].removeprefix("crd/")
        until(
            lambda: resource in plane.kubectl("api-resources", "--output=name").split(),
            within=60,
            what=f"{resource} is discovered",
        )


@dataclass(frozen=True)
class Tutorial:
    """The tutorial of a page in a folder, with a namespace of the test in place of the page's."""

    folder: Path
    namespace: str
    page: Path = PAGE

    @property
    def files(self) -> Mapping[str, str]:
        """The files that the page writes, by name."""
        return {each["name"]: each["text"] for each in _FILE.finditer(self._page)}

    @property
    def _page(self) -> str:
        return self.page.read_text("utf-8").replace(NAMESPACE, self.namespace)

    def write(self) -> None:
        for name, text in self.files.items():
            (self.folder / name).parent.mkdir(exist_ok=True, parents=True)
            (self.folder / name).write_text(text, "utf-8")

    def commands(self, program: str) -> list[list[str]]:
        """
        Return the arguments of each command of a program, in order, with the paths of its files.
        """
        blocks = (each["text"].replace("\\\n", " ") for each in _COMMANDS.finditer(self._page))
        lines = [line for block in blocks for line in block.splitlines() if line.strip()]
        split = [shlex.split(line) for line in lines]
        return [self._with_paths(words[1:]) for words in split if words[0] == program]

    def _with_paths(self, arguments: list[str]) -> list[str]:
        parts = (each.partition("=") for each in arguments)
        return [
            f"{flag}={self.folder / value}" if value in self.files else f"{flag}{equals}{value}"
            for flag, equals, value in parts
        ]
