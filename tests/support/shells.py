"""The shells of the tests of their completion, beside bash: find them, or install them."""

import shutil
import sys
from typing import NamedTuple

from tests.support.debian import Packages, ProgramMissing


PACKAGES = Packages(("zsh", "fish"), "Elsewhere put zsh and fish on the PATH.")


class Shells(NamedTuple):
    bash: str
    zsh: str
    fish: str


def find_shells() -> Shells:
    """Return the programs; raises ProgramMissing."""
    found = {name: shutil.which(name) for name in Shells._fields}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        raise ProgramMissing(f"{' and '.join(missing)} not installed.\n{PACKAGES.how}")
    return Shells(**{name: path or "" for name, path in found.items()})


if __name__ == "__main__":
    sys.exit(PACKAGES.main(find_shells, name="shells", description=str(__doc__)))
