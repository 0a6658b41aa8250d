"""
The loop that loads the catalogue again when the file of its overlay changes.

A catalogue that is refused changes nothing: the one in effect stays, the log says why, and a metric
counts it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import NoReturn, TypeAlias

from reporter.catalogue.entries import Catalogue
from reporter.metrics.process import ReloadResult
from reporter.settings import SettingsError


# --------------------------------------------------------------------
# Find out whether a file has changed, also one that is mounted from a ConfigMap.
#
# The kubelet replaces the symbolic link ``..data`` to a folder (kubernetes/pkg/volume/util/atomic_writer.go),
# so the file is another one, while its path stays.


FileFingerprint: TypeAlias = tuple[object, ...]


def read_fingerprint(path: Path) -> FileFingerprint:
    """
    Return a value that changes with the file (inode, size, time), also if it disappears or is back.
    """
    try:
        found = path.stat()
    except OSError as err:
        return ("missing", err.errno)
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


LOOK_INTERVAL = timedelta(seconds=5)
"""The time between two looks at the file. The kubelet itself takes up to a minute to update it."""

logger = logging.getLogger("reporter")


class ReloadRefused(Exception):
    """A valid catalogue that this process cannot change to without a restart; the text says why."""


class OverlayWatch:
    """
    Loads a changed overlay. *why_refused*: why the present file is not in effect; empty if it is.

    *load* returns the catalogue as the files are now, or raises SettingsError. *apply* returns once it is
    in effect; if it raises, the one before stays. *count* is called with the result of each change.
    """

    def __init__(
        self,
        path: Path,
        catalogue: Catalogue,
        load: Callable[[], Catalogue],
        apply: Callable[[Catalogue], Awaitable[None]],
        *,
        count: Callable[[ReloadResult], None],
        interval: timedelta = LOOK_INTERVAL,
    ) -> None:
        self.why_refused = ""
        self._path, self._catalogue = path, catalogue
        self._load, self._apply, self._count = load, apply, count
        self._interval = interval

    async def run(self) -> NoReturn:
        """
        Look at the file until cancelled, and load each version of it once two looks in a row have found it.

        The first version is loaded too: the file may have changed since the start of the process.
        """
        loaded, last = None, None
        while True:
            now = await asyncio.to_thread(read_fingerprint, self._path)
            if now == last and now != loaded:
                loaded = now
                await self._reload()
            last = now
            await asyncio.sleep(self._interval.total_seconds())

    async def _reload(self) -> None:
        try:
            catalogue = await asyncio.to_thread(self._load)
            if catalogue != self._catalogue:
                await self._apply(catalogue)
        except (SettingsError, ReloadRefused) as err:
            self._refuse(str(err))
        except Exception as err:
            # A fault in the new catalogue must not end a process that works with the old one.
            logger.exception("the changed catalogue overlay cannot be put in effect")
            self._refuse(f"{type(err).__name__}: {err}")
        else:
            self._accept(catalogue)

    def _refuse(self, why: str) -> None:
        self.why_refused = why
        self._count(ReloadResult.REFUSED)
        logger.error("the changed catalogue overlay is refused; the one before stays in effect:")
        for line in why.splitlines():
            logger.error("  %s", line)

    def _accept(self, catalogue: Catalogue) -> None:
        was_refused, self.why_refused = bool(self.why_refused), ""
        before, self._catalogue = self._catalogue, catalogue
        if catalogue != before:
            self._count(ReloadResult.APPLIED)
            _log_change(before, catalogue)
        elif was_refused:
            self._count(ReloadResult.APPLIED)
            logger.info("the catalogue overlay is again the one in effect")


def _log_change(before: Catalogue, after: Catalogue) -> None:
    old, new = set(before.enabled_reasons), set(after.enabled_reasons)
    logger.info(
        "the catalogue overlay has changed: %d of %d reasons are on",
        len(new),
        len(after.entries),
    )
    for what, reasons in (("on", new - old), ("off", old - new)):
        if reasons:
            logger.info("switched %s: %s", what, ", ".join(sorted(reasons)))
