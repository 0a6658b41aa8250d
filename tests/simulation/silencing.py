"""A silence of everything that there is, in a file that each replica reads."""

from dataclasses import dataclass
from datetime import datetime

from reporter.model.silences import ALL_REASONS, SilenceFile, SilenceText
from reporter.model.subjects import FindingKey


@dataclass(frozen=True)
class SimulatedSilence:
    """*namespaces*: those that it is about; the empty one is the cluster."""

    namespaces: frozenset[str]
    until: datetime

    @property
    def file(self) -> SilenceFile:
        until = self.until.strftime("%Y-%m-%dT%H:%M:%SZ")
        return SilenceFile(
            "/silences.yaml",
            tuple(
                SilenceText(f"silences.yaml:{line}", name, reasons=(ALL_REASONS,), until=until)
                for line, name in enumerate(sorted(self.namespaces))
            ),
        )

    def covers(self, key: FindingKey, *, now: datetime) -> bool:
        return key.subject.namespace in self.namespaces and now < self.until
