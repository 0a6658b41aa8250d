from reporter.announcing.restore import PossibleKeyFinder
from reporter.kube.event_record import StrippedEvent
from reporter.model.enums import Layer, Reason
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey, Subject
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


SHOP = Subject(Layer.MODELHARNESS, "shop")
PHI, QWEN = (
    Subject(Layer.MODELDEPLOYMENT, "shop", "phi"),
    Subject(Layer.MODELDEPLOYMENT, "shop", "qwen"),
)
ALL_OF_SHOP = Subject(Layer.MODELDEPLOYMENT, "shop")
ELSEWHERE = Subject(Layer.MODELDEPLOYMENT, "other", "phi")
KEYS = PossibleKeyFinder(DEFAULT_CATALOGUE, [CLUSTER_SUBJECT, SHOP, PHI, QWEN, ELSEWHERE])


def subjects(reason: str, involved: str, message: str = "") -> list[Subject]:
    return [key.subject for key in KEYS(StrippedEvent(Reason(reason), involved, message))]


def test_an_event_about_a_model_is_about_one_that_it_names_or_about_many():
    message = "InferenceSet shop/phi: no pod is ready"
    found = subjects("inferencesetModelPodsNotReady", "shop", message)
    assert found == [ALL_OF_SHOP, PHI]
    assert subjects("inferencesetReady", "shop", message) == [ALL_OF_SHOP, PHI]


def test_an_event_about_the_harness_is_about_its_namespace():
    assert subjects("modelharnessGatewayClassMissing", "shop") == [SHOP]


def test_an_event_about_a_crd_is_about_its_item():
    reason = Reason("clusterCRDMissing")
    keys = list(KEYS(StrippedEvent(reason, "workspaces.kaito.sh", "")))
    assert FindingKey(CLUSTER_SUBJECT, reason, "workspaces.kaito.sh") in keys


def test_an_event_of_an_unknown_reason_is_about_nothing():
    assert subjects("NodeNotReady", "shop") == []
