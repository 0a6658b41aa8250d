"""The order in which objects arrive does not change states and messages."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from reporter.announcing.announcement_state import AnnouncementState
from reporter.announcing.episodes import apply_evaluation
from reporter.announcing.schedule import PublishContext
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.registry import PROBES
from reporter.kinds.apps import DEPLOYMENTS
from reporter.kinds.core import PODS
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.model.observations import DiscoveryResult, Watching
from reporter.snapshot.subjects import ALL_LAYERS
from reporter.store.store import Store
from tests.support.builders import NOON, a_deployment, a_namespace, a_pod
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS, SUBJECTS
from tests.support.reason_states import reason_states
from tests.support.replay import involved_for


CRDS = {each.crd: ("v1",) for each in DEFAULT_CATALOGUE["clusterCRDMissing"].parameters.required}
NAMES = (
    ("istio-system", "istiod", {"app": "istiod"}),
    ("istio-system", "istiod-1-20", {"app": "istiod"}),
    ("aks-istio-system", "istiod-asm-1-27", {"app": "istiod"}),
    ("kaito-system", "body-based-router", {"app": "body-based-router"}),
    ("other", "router", {"app": "body-based-router"}),
    ("kaito-workspace", "kaito-workspace", {"app.kubernetes.io/name": "workspace"}),
    ("kube-system", "kaito", {"app.kubernetes.io/name": "workspace"}),
    ("keda", "keda-operator", None),
    ("keda", "keda-metrics-apiserver", None),
    ("llm-gateway-auth", "apikey-authz", None),
)
NAMESPACES = tuple(a_namespace(name) for name in sorted({each[0] for each in NAMES}))


@st.composite
def deployments(draw):
    namespace, name, labels = draw(st.sampled_from(NAMES))
    replicas = draw(st.integers(0, 3))
    reasons = ["NewReplicaSetAvailable", "ReplicaSetUpdated", "ProgressDeadlineExceeded"]
    return a_deployment(
        name,
        namespace,
        labels=labels,
        replicas=replicas,
        ready=draw(st.integers(0, replicas)),
        generation=draw(st.sampled_from([1, 1, 1, 2])),
        conditions=[("Progressing", "True", draw(st.sampled_from(reasons)))],
    )


@st.composite
def pods(draw):
    namespace, name, _ = draw(st.sampled_from(NAMES))
    waiting = draw(st.sampled_from([{}, {"waiting": "CrashLoopBackOff"}, {"waiting": "X"}]))
    born = NOON - timedelta(seconds=draw(st.integers(0, 3)))
    pod = f"{name}-6c9f-{draw(st.integers(0, 3))}"
    ready = draw(st.booleans())
    return a_pod(pod, namespace, workload=name, ready=ready, created_at=born, **waiting)


def named(objects) -> list:
    return list({(type(o), o.metadata.namespace, o.metadata.name): o for o in objects}.values())


STACKS = st.lists(deployments() | pods(), max_size=24).map(lambda o: named([*NAMESPACES, *o]))


def filled(objects) -> Store:
    store = Store(DEFAULT_KINDS, CRDS, subjects=SUBJECTS)
    for kind in DEFAULT_KINDS:
        store.set_watch_state(kind, Watching())
    for each in objects:
        store.upsert(next(kind for kind in DEFAULT_KINDS if isinstance(each, kind.type)), each)
    store.record_discovery(DiscoveryResult(CRDS), now=NOON)
    return store


def outcome(store: Store):
    """Return states, messages and notes five minutes later."""
    evaluator = Evaluator(DEFAULT_CATALOGUE, PROBES, DEFAULT_FLAGS, EvaluationSettings())
    evaluation, now = Evaluation(), NOON
    for minutes in range(6):
        now = NOON + timedelta(minutes=minutes)
        evaluation = evaluator.evaluate(evaluation, store.snapshot(), ALL_LAYERS, now=now)
    settings = evaluator.settings
    state = apply_evaluation(AnnouncementState(), evaluation, DEFAULT_CATALOGUE, settings, now=now)
    context = PublishContext(state, evaluation, DEFAULT_CATALOGUE, settings, involved_for)
    events = [
        context.compose_event(write.key, now=now) for write in context.pending_writes(now=now)
    ]
    return reason_states(evaluation), [e.message for e in events if e], evaluation.notes


@given(stack=STACKS, data=st.data())
def test_the_order_of_objects_does_not_matter(stack, data):
    shuffled = data.draw(st.permutations(stack))
    assert outcome(filled(stack)) == outcome(filled(shuffled))


@given(before=STACKS, after=STACKS)
def test_a_list_and_single_events_lead_to_the_same(before, after):
    listed, watched = filled(before), filled(before)
    for kind in DEFAULT_KINDS:
        listed.replace(kind, [each for each in after if isinstance(each, kind.type)])
    for kind in (PODS, DEPLOYMENTS):
        for each in list(watched.snapshot().all(kind)):
            watched.delete(kind, each.metadata.namespace, each.metadata.name)
    for each in after:
        watched.upsert(next(kind for kind in DEFAULT_KINDS if isinstance(each, kind.type)), each)
    assert outcome(listed) == outcome(watched)
