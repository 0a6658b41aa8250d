"""Objects whose CRD was deleted while no watch saw them go."""

from reporter.model.observations import DiscoveryResult, NotServed
from reporter.stories.story_replay import StoryReplay
from tests.support.builders import MINUTE, NOON
from tests.support.own_reasons import TEAM, an_own_store, ready


SERVICES = "inferenceservices.serving.kserve.io"
FAILED = {
    "status": {
        "modelStatus": {
            "transitionStatus": "InvalidSpec",
            "lastFailureInfo": {"reason": "NoSupportingRuntime", "message": "none fits"},
        },
        "conditions": [
            {"type": "PredictorReady", "status": "True"},
            {"type": "IngressReady", "status": "True"},
        ],
    }
}

AVAILABLE = {"status": {"availableReplicas": 1}}


def an_uninstalled_stack(**step):
    return StoryReplay(
        {
            "why": "",
            "of": [],
            "packs": ["kserve"],
            # It settles before a second discovery confirms that the kind is gone.
            "overlay": {"reasons": {"inferenceserviceSpecInvalid": {"settle": "5s"}}},
            "given": {
                "crds": {SERVICES: ["v1beta1"]},
                "change": {
                    "Namespace team-a": {},
                    "InferenceService team-a/chat": FAILED,
                    "KServeController kserve/kserve-controller-manager": AVAILABLE,
                },
            },
            "story": [
                {"at": "2m", "watch": {"inferenceservices": "unserved"}, **step},
            ],
        }
    )


def test_a_subject_that_goes_with_its_kind_has_not_recovered():
    replay = an_uninstalled_stack(crds={SERVICES: []}).run()
    assert [each.key.reason for each in replay.writes] == ["inferenceserviceSpecInvalid"]
    assert not replay.announcement_state.episodes
    assert not [each for each in replay.evaluation.subjects if each.name]


def test_a_kind_that_discovery_still_lists_takes_no_subject_with_it():
    replay = an_uninstalled_stack().run()
    assert [each.key.reason for each in replay.writes] == ["inferenceserviceSpecInvalid"]
    assert len(replay.announcement_state.episodes) == 1


def test_objects_are_kept_until_a_second_discovery_confirms_that_their_kind_is_gone():
    store = an_own_store()
    store.store.record_discovery(DiscoveryResult({SERVICES: ("v1",)}), now=NOON + MINUTE)
    store.put(status=ready("False"))
    store.store.mark_undecodable(store.kind(), TEAM, "other")
    store.store.set_watch_state(store.kind(), NotServed())
    seen = []
    for minute in (2, 3, 4):
        store.store.record_discovery(DiscoveryResult({}), now=NOON + minute * MINUTE)
        snapshot = store.store.snapshot()
        dirty = bool(store.store.take_dirty())
        seen.append((len(list(snapshot.all(store.kind()))), len(snapshot.undecodable), dirty))
    assert [counts[:2] for counts in seen] == [(1, 1), (0, 0), (0, 0)]
    assert not seen[-1][2]
