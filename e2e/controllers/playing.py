"""Play a scenario: act, read what is announced, and record what the controllers write."""

import time

from e2e.controllers import story_files
from e2e.controllers.model import Model
from e2e.controllers.recording import Recording, recording, story_steps
from e2e.controllers.scenarios import Act, Scenario
from e2e.support import events
from e2e.support.observer import Observer
from e2e.support.reporter_process import ReporterProcess
from reporter.stories.format import parse_duration


ANNOUNCED_WITHIN = 180
"""Seconds, for what is held longest with short holds: 90 s without progress, and 30 s."""

LAST_WRITES = 3
"""Seconds in which controllers write what follows from an act after it has returned."""


def play(scenario: Scenario, model: Model, reporter: ReporterProcess, *, record: bool) -> None:
    """Play all acts; nothing else may be announced. *record*: write the story anew after them."""
    with recording(model.plane, model.namespace, scenario.kinds) as made:
        for act in scenario.acts:
            _do(act, model, made)
            time.sleep(LAST_WRITES)
    if record:
        print(_record(scenario, made))
    observer = Observer(reporter)
    observer.wait_all_clear(model.namespace)
    found = observer.events(model.namespace)
    wanted = [act.announced[0] for act in scenario.acts if act.announced]
    told = "\n".join(f"{each.type} {each.reason}: {each.message}" for each in found)
    assert [each.reason for each in found] == wanted, f"announced, not only {wanted}:\n{told}"


def _do(act: Act, model: Model, made: Recording) -> None:
    made.begin(parse_duration(act.at), act.what)
    act.do(model)
    if act.announced is not None:
        reason, text = act.announced
        found = events.wait_for(
            model.client,
            reason,
            within=ANNOUNCED_WITHIN,
            containing=model.namespace,
        )
        assert text in found.message, found.message


def _record(scenario: Scenario, made: Recording) -> str:
    head = {
        "why": scenario.why,
        "of": list(scenario.of),
        **({"flags": {"sources": scenario.sources}} if scenario.sources else {}),
        "given": {"change": dict.fromkeys(scenario.replaced)},
    }
    return story_files.write(scenario.name, head, story_steps(made), scenario.controllers)
