"""Import parts of a package without what its ``__init__`` imports."""

import sys
from importlib.util import find_spec, module_from_spec


def import_without_init(name: str) -> None:
    """
    Make the modules of a package importable, and run its ``__init__`` neither now nor later.

    Does nothing if the package is imported already, or not installed.
    """
    if name in sys.modules:
        return
    spec = find_spec(name)
    if spec is not None:
        sys.modules[name] = module_from_spec(spec)
