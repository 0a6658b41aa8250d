"""The page /status of many subjects: rendered in chunks, of one moment, with work in proportion."""

import json
import sys

from reporter.model.enums import Layer, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import Clear
from reporter.status.diagnosis import SUBJECTS_PER_CHUNK, render_diagnosis
from tests.support.builders import (
    a_key,
    a_trouble,
    an_active_verdict,
)
from tests.unit.status.status_fixture import DiagnosisPage


def rendering_calls(number: int) -> int:
    """Return how many function calls render a page about this many InferenceSets in trouble."""
    sets = [Subject(Layer.MODELDEPLOYMENT, "team-a", f"model-{i:03}") for i in range(number)]
    diagnosis_page = DiagnosisPage(frozenset({CLUSTER_SUBJECT, *sets}))
    diagnosis_page.replay.announcing = False
    diagnosis_page.replay.set_verdicts(
        *(
            an_active_verdict(a_key("inferencesetPods", each), a_trouble(kind=TroubleKind.LOST))
            for each in sets
        )
    )
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        page = diagnosis_page.page()
    finally:
        sys.setprofile(None)
    assert len(page["subjects"]) == number + 1
    return calls


def test_the_work_for_a_page_grows_with_the_number_of_its_subjects_and_no_faster():
    small, large = rendering_calls(100), rendering_calls(400)
    assert 2 * small < large < 4.2 * small


def test_a_page_is_rendered_in_chunks_and_shows_one_moment_whatever_happens_meanwhile():
    sets = [
        Subject(Layer.MODELDEPLOYMENT, "team-a", f"model-{i}")
        for i in range(10 * SUBJECTS_PER_CHUNK)
    ]
    diagnosis_page = DiagnosisPage(frozenset({CLUSTER_SUBJECT, *sets}))
    pods = [a_key("inferencesetPods", each) for each in sets]

    def set_all(verdict) -> None:
        diagnosis_page.replay.set_verdicts(*map(verdict, pods))
        diagnosis_page.finish_pass()

    def chunks():
        since, process = diagnosis_page.history.freeze(), {"leading": True}
        return render_diagnosis(
            diagnosis_page.replay.context,
            diagnosis_page.store.snapshot(),
            since=since,
            process=process,
        )

    set_all(lambda key: an_active_verdict(key, a_trouble(kind=TroubleKind.LOST)))
    diagnosis_page.replay.advance(120)
    whole, found, changes = (
        "".join(chunks()),
        [],
        [Clear, lambda key: an_active_verdict(key, a_trouble())],
    )
    for number, chunk in enumerate(chunks()):
        found.append(chunk)
        diagnosis_page.replay.advance(50)
        set_all(changes[number % 2])
    assert "".join(found) == whole != "".join(chunks())
    assert len(json.loads(whole)["subjects"]) == len(sets) + 1
    assert max(chunk.count('"verdicts": [') for chunk in found) == SUBJECTS_PER_CHUNK
