"""A replay with the page /status about it."""

import json

from reporter.evaluation.finished_pass import StateTracker
from reporter.model.enums import Layer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.status.diagnosis import StateHistory, render_diagnosis
from tests.support.builders import (
    a_catalogue,
    a_key,
    a_store,
    a_suppression,
    an_entry,
)
from tests.support.finished_passes import finished_pass
from tests.support.replay import Replay


SET = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")
ISTIO, BBR, KAITO = a_key("clusterIstio"), a_key("clusterBBR"), a_key("clusterKaito")
PODS_OF = a_key("inferencesetPods", SET)
CATALOGUE = a_catalogue(
    an_entry("clusterIstio", 10),
    an_entry("clusterBBR", 20),
    an_entry("clusterKaito", 30),
    an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT),
    rows=(a_suppression("clusterKaito", "inferencesetPods"),),
)


class DiagnosisPage:
    """A replay, and the page /status about it."""

    def __init__(self, subjects=frozenset({CLUSTER_SUBJECT, SET})) -> None:
        self.replay = Replay(CATALOGUE, subjects=subjects)
        self.leading = True
        self.history = StateHistory(lambda: self.replay.now)
        self._tracker = StateTracker()
        self.store = a_store(crds=("gateways.gateway.networking.k8s.io",))

    def finish_pass(self):
        evaluation, leading = self.replay.evaluation, self.leading
        self.history.follow(finished_pass(evaluation, self._tracker, leading=leading))

    def page(self):
        self.finish_pass()
        chunks = render_diagnosis(
            self.replay.context,
            self.store.snapshot(),
            since=self.history.freeze(),
            process={"identity": "reporter-0", "leading": self.leading},
        )
        return json.loads("".join(chunks))

    def subject(self, subject: Subject = CLUSTER_SUBJECT):
        (found,) = (
            s
            for s in self.page()["subjects"]
            if (s["layer"], s["namespace"], s["name"])
            == (subject.layer, subject.namespace, subject.name)
        )
        return found

    def verdict(self, key):
        (found,) = (v for v in self.subject(key.subject)["verdicts"] if v["reason"] == key.reason)
        return found
