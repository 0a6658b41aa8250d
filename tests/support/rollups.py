"""Roll-ups of the example stack after a change, made by the whole evaluation."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from reporter.catalogue.overlay import DEFAULT_PACKS
from reporter.metrics.page import Metrics
from reporter.model.enums import Layer
from reporter.model.states import COUNTED_STATES, State
from reporter.model.subjects import Subject
from reporter.rollup.document import StatusView
from reporter.rollup.records import InferenceSetRecord, RollUp, Totals
from reporter.settings import RollUpScope
from reporter.stories.story_replay import StoryReplay, status_lines


BAD_IMAGE = {
    "Pod team-m/qwen-7rk2p-0": {"model": "qwen", "ready": False, "waiting": "ErrImagePull"}
}
LOST = {"Pod team-m/qwen-7rk2p-0": {"model": "qwen", "ready": False}}
"""A model pod that gives no reason, so that it may follow from what is upstream."""
FULLY_REPORTED = {
    "Gateway team-m/team-m-gw": {"metadata": {"labels": {"helm.sh/chart": "modelharness-0.2.2"}}},
    "InferenceSet team-m/qwen": {"status": {"autoUpgrade": {"numDriftedWorkspaces": 0}}},
}
"""A chart's version and the drift of replicas, which the example stack does not have."""


def stack_after(
    change=None,
    *,
    until: str = "1m",
    given=None,
    packs: Sequence[str] = DEFAULT_PACKS,
    flags=None,
    **step,
) -> StoryReplay:
    """Return the stack at *until*, after a change at its start."""
    return StoryReplay(
        {
            "why": "",
            "of": [],
            "packs": list(packs),
            "flags": flags or {},
            "given": {"change": given or {}},
            "story": [{"at": "1s", "change": change or {}, **step}],
            "until": until,
        }
    ).run()


def model_outage(**step) -> StoryReplay:
    """Return the stack in which the only replica of team-m/qwen cannot pull its image."""
    return stack_after(BAD_IMAGE, given=FULLY_REPORTED, **step)


def view_of(replay: StoryReplay) -> StatusView:
    return StatusView(replay.rollup, replay.rollup_rules, now=replay.now)


def status_document(view: StatusView) -> Any:
    """Return the whole document as JSON values."""
    document = view.document(*view.namespaces(), cluster=view.cluster())
    return msgspec.json.decode(msgspec.json.encode(document))


def line_of(replay: StoryReplay, subject: str) -> str:
    """Return the line of one subject, as a case pins it."""
    return status_lines(view_of(replay))[subject]


def show_rollup(
    metrics: Metrics,
    rollup: RollUp,
    scope: RollUpScope = RollUpScope.NAMESPACE,
) -> None:
    metrics.show_rollup(lambda: rollup, scope, version="1.2.3")


def distrusted(rollup: RollUp) -> RollUp:
    """
    Return a roll-up after which every subject is rolled up anew: other layers could not be listed.
    """
    known = replace(
        rollup.evaluation.known_subjects, unknown={Subject(Layer.CLUSTER): "nobody knows"}
    )
    return replace(rollup, evaluation=replace(rollup.evaluation, known_subjects=known))


def added_up(sets: Iterable[InferenceSetRecord]) -> Totals:
    """Return the sums of a namespace, made otherwise than the program makes them: one by one."""
    expected: dict[str, Any] = {
        field: 0 for field in Totals.__struct_fields__ if field != "by_state"
    }
    by_state = Counter[State]()
    for each in sets:
        by_state[each.subject_state.state] += 1
        stays = each.subject_state.state is not State.TERMINATING
        if each.available:
            expected["available"] += 1
        elif each.available is None:
            expected["maybe_available"] += stays
        else:
            is_paused = each.facts.progress.is_paused
            expected["paused" if is_paused else "unavailable"] += stays
        for number in ("desired", "updated", "ready"):
            reported = getattr(each.facts.replicas, number, None)
            if reported is not None:
                expected[number] += reported
            elif each.facts.progress.has_replicas:
                expected[f"{number}_unreported"] += 1
    return Totals(by_state={state: by_state[state] for state in COUNTED_STATES}, **expected)
