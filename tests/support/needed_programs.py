"""
Skip the tests that need a program which this machine lacks, and report them at the end of a run.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest


@dataclass(frozen=True, slots=True)
class NeededProgram:
    """
    A program that some tests need. *tests*: what these are, as in "3 test(s) of …".

    *find* raises *missing*, whose text has what to do. *required_variable*: an environment variable;
    with 1 a missing program is an error.
    """

    title: str
    tests: str
    why_skipped: str
    find: Callable[[], object]
    missing: type[Exception]
    required_variable: str

    def skip_without(self, concerned: Sequence[pytest.Item]) -> None:
        """Skip these tests if there is no such program."""
        if not concerned:
            return
        try:
            self.find()
        except self.missing as err:
            if os.environ.get(self.required_variable) == "1":
                raise pytest.UsageError(f"{self.required_variable}=1, but: {err}") from err
            for item in concerned:
                item.add_marker(pytest.mark.skip(reason=self.why_skipped))

    def report_skipped(self, terminal: pytest.TerminalReporter) -> None:
        """
        Count the skipped tests from the reports, because several processes may have run the tests.
        """
        skipped = terminal.stats.get("skipped", [])
        count = sum(self.why_skipped in str(each.longrepr) for each in skipped)
        if not count:
            return
        terminal.section(self.title, sep="!", red=True, bold=True)
        terminal.line(f"{count} test(s) {self.tests} did NOT run.", red=True)
        try:
            self.find()
        except self.missing as err:
            for line in str(err).splitlines():
                terminal.line(line)
