"""The Lua of the tests of the health check for Argo CD: find it, or install it."""

import shutil
import sys

from tests.support.debian import Packages, ProgramMissing


INTERPRETERS = ("lua", "lua5.4", "lua5.3", "lua5.1", "luajit")
PACKAGES = Packages(("lua5.4",), "Elsewhere put any Lua from 5.1 on the PATH.")


def find_lua() -> str:
    """Return the interpreter; raises ProgramMissing."""
    found = next(filter(None, map(shutil.which, INTERPRETERS)), None)
    if found is None:
        raise ProgramMissing(f"Lua is not installed.\n{PACKAGES.how}")
    return found


if __name__ == "__main__":
    sys.exit(PACKAGES.main(lambda: (find_lua(),), name="lua", description=str(__doc__)))
