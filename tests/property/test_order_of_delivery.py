"""
In whichever order objects arrive, what is judged and said in the end is the same.
"""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from reporter.model.kinds import DEPLOYMENTS, KINDS, PODS
from reporter.model.observations import Discovery, Watched
from reporter.stages.judgement import Judgement, Terms
from reporter.stages.pacing import Stage
from reporter.stages.pipeline import Court
from reporter.stages.probes import PROBES
from reporter.stages.states import states
from reporter.stages.store import Store
from reporter.stages.subjects import EVERYTHING
from reporter.stages.voice import Voice, follow
from tests.builders import NOON, a_deployment, a_namespace, a_pod
from tests.play import home
from tests.shipped import CATALOGUE, FLAGS


CRDS = {each.crd: ("v1",) for each in CATALOGUE["clusterCRDMissing"].parameters.required}
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
    return a_pod(pod, namespace, workload=name, ready=ready, born=born, **waiting)


def named(objects) -> list:
    return list({(type(o), o.metadata.namespace, o.metadata.name): o for o in objects}.values())


STACKS = st.lists(deployments() | pods(), max_size=24).map(lambda o: named([*NAMESPACES, *o]))


def filled(objects) -> Store:
    store = Store(KINDS, CRDS)
    for kind in KINDS:
        store.sight(kind, Watched())
    for each in objects:
        store.put(next(kind for kind in KINDS if isinstance(each, kind.type)), each)
    store.discovered(Discovery(CRDS), now=NOON)
    return store


def outcome(store: Store):
    """
    States and messages five minutes later.
    """
    court = Court(CATALOGUE, PROBES, FLAGS, Terms())
    judged, now = Judgement(), NOON
    for minutes in range(6):
        now = NOON + timedelta(minutes=minutes)
        judged = court.judge(judged, store.view(), EVERYTHING, now=now)
    voice = follow(Voice(), judged, CATALOGUE, court.terms, now=now)
    stage = Stage(voice, judged, CATALOGUE, court.terms, home)
    said = [stage.compose(due.key, now=now) for due in stage.due(now=now)]
    return states(judged), [record.message for record in said if record], judged.notes


@given(stack=STACKS, data=st.data())
def test_the_order_of_objects_does_not_matter(stack, data):
    shuffled = data.draw(st.permutations(stack))
    assert outcome(filled(stack)) == outcome(filled(shuffled))


@given(before=STACKS, after=STACKS)
def test_a_list_and_single_events_lead_to_the_same(before, after):
    listed, told = filled(before), filled(before)
    for kind in KINDS:
        listed.replace(kind, [each for each in after if isinstance(each, kind.type)])
    for kind in (PODS, DEPLOYMENTS):
        for each in list(told.view().all(kind)):
            told.drop(kind, each.metadata.namespace, each.metadata.name)
    for each in after:
        told.put(next(kind for kind in KINDS if isinstance(each, kind.type)), each)
    assert outcome(listed) == outcome(told)
