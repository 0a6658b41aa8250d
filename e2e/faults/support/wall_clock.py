"""The wall clock of one reporter, which a test shifts while it runs."""

from dataclasses import dataclass
from pathlib import Path

from e2e.faults.support.altered_reporter import CLOCK_SHIFT_FILE


@dataclass
class WallClock:
    """The wall clock of one process, a number of seconds off."""

    file: Path

    def wrong_by(self, seconds: float) -> dict[str, str]:
        """Shift the clock at once. Returns the environment that makes a new process use it."""
        new = self.file.with_suffix(".new")
        new.write_text(str(seconds))
        new.replace(self.file)
        return {CLOCK_SHIFT_FILE: str(self.file)}
