"""Replay verdicts through time in the pure core, and record what is announced."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Self

from reporter.evaluation.pipeline import Evaluator
from reporter.model.subjects import Subject
from reporter.model.verdicts import Clear, Unknown, Verdict
from reporter.store.store import Store
from reporter.stories import process
from reporter.stories.process import ReplayedProcess
from tests.support.reason_states import reason_states
from tests.support.scripted_probe import a_scripted_probe
from tests.support.subject_store import a_subject_store, change_subjects


involved_for = process.involved_for


@dataclass
class Replay(ReplayedProcess):
    """
    One process, whose probes answer from *verdicts*; a key without a verdict is Clear.

    A verdict that is a string is Unknown, for that reason.
    """

    verdicts: dict = field(default_factory=dict)

    def __post_init__(self):
        probe = a_scripted_probe(self._run_probe)
        self.evaluator = Evaluator(self.catalogue, {"none": probe}, {}, self.settings)
        self.store = self._subject_store = a_subject_store()
        self.run_pass()

    def _run_probe(self, _, request) -> list[Verdict]:
        verdicts = self._verdicts_of.get((request.subject, request.reason), {})
        return [
            Unknown(key, verdict) if isinstance(verdict, str) else verdict
            for key, verdict in verdicts.items()
        ] or [Clear(request.key())]

    def set_verdicts(self, *verdicts) -> Self:
        self.verdicts.update({verdict.key: verdict for verdict in verdicts})
        return self.run_pass()

    def set_clear(self, *keys) -> Self:
        for key in keys:
            self.verdicts.pop(key, None)
        return self.run_pass()

    def set_unknown(self, *keys) -> Self:
        self.verdicts.update(dict.fromkeys(keys, "forbidden"))
        return self.run_pass()

    def run_pass(self) -> Self:
        self._verdicts_of: dict = defaultdict(dict)
        for key, verdict in self.verdicts.items():
            self._verdicts_of[key.subject, key.reason][key] = verdict
        if self.store is self._subject_store:
            change_subjects(self.store, self._existing, self.existing)
            self._existing = self.existing
        return super().run_pass()

    @property
    def existing(self) -> frozenset[Subject]:
        """The subjects that have an object."""
        return self.subjects

    @property
    def new_writes(self) -> list[str]:
        """Return the Events written since the last call, as ``reason xcount``."""
        lines = [f"{r.key.reason} x{r.count}" for r in self.writes[self._seen_writes :]]
        self._seen_writes = len(self.writes)
        return lines

    _seen_writes: int = 0
    _subject_store: Store | None = None
    _existing: frozenset[Subject] = frozenset()

    @property
    def last_message(self) -> str:
        return str(self.writes[-1].message)

    def state(self, key) -> str:
        return str(reason_states(self.evaluation).get(key, "clear"))
