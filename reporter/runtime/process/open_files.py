"""
The limit of open files. Without a free file the kernel accepts no connection, not even a probe's.
"""

import resource


WANTED_FILES = 4096
"""
More than are ever open at once. A higher limit would be inherited by programs that an exec plugin
starts, and old ones cannot work with very high numbers (select(2)).
"""


def raise_open_files_limit() -> None:
    """Raise the soft limit towards the hard one, which a process may always do (setrlimit(2))."""
    soft, hard = _limits()
    if soft < min(WANTED_FILES, hard):
        _, hard_as_given = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(WANTED_FILES, hard), hard_as_given))


def open_files_limit() -> int:
    return min(_limits()[0], WANTED_FILES)


def _limits() -> tuple[int, int]:
    """Return the soft and the hard limit, with a number for an infinite one."""
    soft, hard = (
        WANTED_FILES if each == resource.RLIM_INFINITY else each
        for each in resource.getrlimit(resource.RLIMIT_NOFILE)
    )
    return soft, hard
