"""
The loop that reads the file of silences again when it changes.

The kubelet replaces a mounted ConfigMap by swapping a symlink, which no watch of the file itself
reports; so its content is compared.
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from reporter.catalogue.regular_file import read_regular_file
from reporter.catalogue.silence_file import read_silence_file
from reporter.catalogue.yaml_nodes import MAX_FILE_BYTES
from reporter.model.silences import SilenceFile


READ_INTERVAL = 5.0
"""Seconds between two looks at the file."""

logger = logging.getLogger("reporter.silences")


class SilenceFileReader:
    """
    Reads the file at the start and after each change, and hands it to *on_change*.

    *interval*: seconds between two looks.
    """

    def __init__(
        self,
        path: Path,
        on_change: Callable[[SilenceFile], None],
        *,
        interval: float = READ_INTERVAL,
    ) -> None:
        self._path, self._on_change, self._interval = path, on_change, interval
        # Read before the first pass, which must not announce what is silenced.
        self._content = self._read()
        found = self._read_silences()
        self._exists = found.exists
        if not found.exists:
            logger.info("the file of silences %s does not exist yet", path)
        on_change(found)

    async def run(self) -> NoReturn:
        """
        Look at the file until cancelled, and hand on each change; one that is gone silences nothing.
        """
        while True:
            await asyncio.sleep(self._interval)
            content = await asyncio.to_thread(self._read)
            if content != self._content:
                # If the file changes between the two reads, the next look sees that.
                found = await asyncio.to_thread(self._read_silences)
                self._content = content
                if self._exists and not found.exists:
                    logger.warning(
                        "the file of silences %s is gone, and silences nothing", self._path
                    )
                self._exists = found.exists
                self._on_change(found)

    def _read_silences(self) -> SilenceFile:
        try:
            return read_silence_file(self._path)
        except Exception as err:
            # A fault must not end a process that announces: it silences nothing, and that is shown.
            logger.exception("the file of silences %s cannot be read", self._path)
            return SilenceFile(str(self._path), problem=f"{type(err).__name__}: {err}")

    def _read(self) -> bytes | str:
        """Return the content, or why there is none."""
        try:
            return read_regular_file(self._path, MAX_FILE_BYTES + 1)
        except OSError as err:
            return str(err)
