"""
A replay of a case that is observed at each pass: the laws of the roll-up, what is published, and what
the next pass may skip.
"""

from collections.abc import Iterator, Mapping
from traceback import format_tb
from typing import Any, Protocol

from msgspec.structs import replace

from reporter.evaluation.clocks import NOTHING_TRACKED
from reporter.evaluation.pipeline import run_to_end
from reporter.evaluation.probe_run import prepare_probe_run
from reporter.model.verdicts import Clear
from reporter.probes.probe import ProbeRequest
from reporter.rollup.fold import fold
from reporter.rollup.records import RollUp
from reporter.rollup.rules import RollUpInput
from reporter.snapshot.subjects import expand_placeholders
from reporter.stories.format import since_start
from reporter.stories.story_replay import StoryReplay
from tests.cases.rollup_laws import broken_laws, fold_differences
from tests.support.rollups import distrusted, status_document, view_of
from tests.support.status_schema import schema_errors


class PassObserver(Protocol):
    """Looks at each pass of a replay. *heading*: what it checks."""

    heading: str

    def observe(self, replay: StoryReplay, given: RollUpInput) -> Iterator[str]:
        """Yield what is wrong after a pass."""

    def restart(self) -> None: ...


class RollUpObserver:
    """Folds each pass twice: all subjects, and those that changed alone."""

    heading = "laws of the roll-up"

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self._whole, self._incremental = RollUp(), RollUp()

    def observe(self, replay: StoryReplay, given: RollUpInput) -> Iterator[str]:
        subjects, rules = given.evaluation.subjects, replay.rollup_rules
        self._whole = fold(distrusted(self._whole), given, rules)
        new = subjects - self._incremental.evaluation.subjects
        dirty = expand_placeholders(given.dirty, subjects)
        self._incremental = fold(self._incremental, replace(given, evaluated=dirty | new), rules)
        yield from fold_differences(self._whole, self._incremental)
        yield from broken_laws(self._whole, replay)
        if self._whole.cluster is None:
            yield "there is no state of the cluster"


class SchemaObserver:
    """Renders the status after each pass that changed it."""

    heading = "published schema"

    def __init__(self) -> None:
        self._revision: int | None = None

    def restart(self) -> None:
        self._revision = None

    def observe(self, replay: StoryReplay, given: RollUpInput) -> Iterator[str]:
        if replay.rollup.revision != self._revision:
            self._revision = replay.rollup.revision
            yield from schema_errors(status_document(view_of(replay)))


class ClearSubjectObserver:
    """
    Runs the probes that the next full pass may skip: they must find the subject clear.

    *checked*: the number of subjects that it has looked at.
    """

    heading = "probes that a full pass skips"

    def __init__(self) -> None:
        self.checked = 0

    def restart(self) -> None:
        pass

    def observe(self, replay: StoryReplay, given: RollUpInput) -> Iterator[str]:
        clear, evaluator = given.evaluation.clear, replay.evaluator
        # The snapshot that is kept is the same but for its pages.
        if clear.snapshot is None or clear.snapshot.tables is not replay.snapshot.tables:
            return
        run = prepare_probe_run(
            replay.snapshot,
            NOTHING_TRACKED,
            evaluator.catalogue,
            evaluator.probes,
            flags=evaluator.flags,
            now=replay.now,
        )
        unchanged = run_to_end(clear.unchanged(replay.snapshot, evaluator))
        self.checked += len(unchanged)
        for subject, each in unchanged.items():
            for found in run.run([subject]):
                if found.key.reason not in each.repeated and found != Clear(found.key):
                    yield f"{found}"


class ObservedReplay(StoryReplay):
    """
    A replay with observers. *broken*: the first pass at which each found something, by heading.

    A fault of a probe is found as well, and its keys are Unknown, so that a difference shows them.
    """

    def __init__(self, story: Mapping[str, Any]) -> None:
        self.broken: dict[str, list[str]] = {}
        self.skipping = ClearSubjectObserver()
        self._observers: tuple[PassObserver, ...] = (
            RollUpObserver(),
            SchemaObserver(),
            self.skipping,
        )
        super().__init__(story)

    def on_fault(self, request: ProbeRequest, err: Exception) -> None:
        found = f"{request.reason} of {request.subject}: {type(err).__name__}: {err}"
        self._note("faults of probes", [found, *format_tb(err.__traceback__)[-1].splitlines()])

    def _note(self, heading: str, found: list[str]) -> None:
        if found:
            self.broken.setdefault(heading, [f"at {since_start(self.now)}:", *found])

    def run_pass(self) -> "ObservedReplay":
        super().run_pass()
        for each in self._observers:
            self._note(each.heading, list(each.observe(self, self._given)))
        return self

    def rollup_input(self) -> RollUpInput:
        self._given = super().rollup_input()
        return self._given

    def restart(self, *, back_after: float = 0.0) -> "ObservedReplay":
        for each in self._observers:
            each.restart()
        super().restart(back_after=back_after)
        return self
