"""Fold one pass into the roll-up: only the namespaces that it touched are counted anew."""

from collections import defaultdict
from collections.abc import Generator, Mapping

from msgspec.structs import replace

from reporter.evaluation.pipeline import run_to_end
from reporter.kinds.core import NAMESPACES, Namespace
from reporter.model.enums import Reason
from reporter.model.states import State
from reporter.model.status_document import ComponentStatus, UnlistedLayer
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.rollup import subject_states
from reporter.rollup.blockers import BlockerFinder
from reporter.rollup.components import list_components
from reporter.rollup.findings import NO_FINDINGS, SubjectFindings, collect_findings
from reporter.rollup.namespaces import SETS_PER_BATCH, NamespaceRollUp
from reporter.rollup.records import ClusterRecord, RollUp
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.rollup.touched import Touched, find_touched


def fold(before: RollUp, given: RollUpInput, rules: RollUpRules) -> RollUp:
    """Return the roll-up after a pass, made of *before* and of the subjects that the pass touched."""
    return run_to_end(fold_steps(before, given, rules))


def fold_steps(
    before: RollUp, given: RollUpInput, rules: RollUpRules
) -> Generator[None, None, RollUp]:
    """Make the same as *fold*, in steps. Yields where other tasks may run, and returns the roll-up."""
    touched = yield from find_touched(before, given, rules)
    found = collect_findings(given.evaluation, touched.subjects, rules)
    yield
    blockers, revision = BlockerFinder(given, rules), before.revision + 1
    namespaces = dict(before.namespaces)
    of_fold = NamespaceRollUp(given, rules, touched, found, blockers, revision=revision)
    is_changed, done = False, 0
    for name, subjects in _by_namespace(touched).items():
        record = namespaces.get(name)
        after = yield from of_fold.update(name, record, subjects)
        if after is not None:
            namespaces[name] = after
            is_changed |= after.revision == revision
        elif record is not None:
            del namespaces[name]
            is_changed = True
        done += len(subjects)
        if done >= SETS_PER_BATCH:
            done = 0
            yield
    cluster = before.cluster
    if cluster is None or CLUSTER_SUBJECT in touched.subjects:
        cluster_found = found.get(CLUSTER_SUBJECT, NO_FINDINGS)
        cluster = _roll_up_cluster(cluster, given, rules, cluster_found, blockers)
    cluster = replace(cluster, uid=_cluster_uid(given), unlisted=_unlisted_layers(given))
    return RollUp(
        evaluation=given.evaluation,
        cluster=cluster,
        namespaces=namespaces,
        terminating=touched.terminating,
        episodes=given.episodes,
        packages=given.packages,
        revision=revision if is_changed or cluster != before.cluster else before.revision,
        stalls_known_at=before.stalls_known_at or given.now + rules.longest_window,
        missing_rights=before.missing_rights,
    )


def _by_namespace(touched: Touched) -> Mapping[str, list[Subject]]:
    found: defaultdict[str, list[Subject]] = defaultdict(list)
    for subject in (*touched.subjects, *touched.gone):
        if subject.namespace:
            found[subject.namespace].append(subject)
    return found


# ---------------------------------------------------------------- the cluster


def _roll_up_cluster(
    before: ClusterRecord | None,
    given: RollUpInput,
    rules: RollUpRules,
    found: SubjectFindings,
    blockers: BlockerFinder,
) -> ClusterRecord:
    components = list_components(given, rules)
    facts = subject_states.Facts(
        unknown=subject_states.explain_unread_events(given.evaluation),
        progress=_describe_components(components, rules),
    )
    subject_state = before.subject_state if before is not None else None
    return ClusterRecord(
        subject_state=subject_states.make_subject_state(
            subject_state, CLUSTER_SUBJECT, found, facts, blockers, now=given.now
        ),
        components=components,
    )


def _unlisted_layers(given: RollUpInput) -> tuple[UnlistedLayer, ...]:
    unknown = given.evaluation.known_subjects.unknown
    return tuple(UnlistedLayer(layer=each.layer, why=why) for each, why in unknown.items())


def _cluster_uid(given: RollUpInput) -> str:
    if NAMESPACES.resource not in given.snapshot.tables:
        return ""
    found = given.snapshot.peek(NAMESPACES, Namespace, "", "kube-system")
    return found.metadata.uid if found is not None else ""


def _describe_components(
    components: tuple[ComponentStatus, ...], rules: RollUpRules
) -> subject_states.StateReason | None:
    behind = [
        each
        for each in components
        if each.state is State.IN_PROGRESS and not _is_spare(each, components, rules)
    ]
    if not behind:
        return None
    names = ", ".join(f"{each.namespace}/{each.name}" for each in behind)
    is_short = any(
        each.replicas is None or (each.replicas.ready or 0) < each.replicas.desired
        for each in behind
    )
    return subject_states.StateReason(
        subject_states.SCALING if is_short else subject_states.UPDATING, f"In progress: {names}."
    )


def _is_spare(
    component: ComponentStatus, components: tuple[ComponentStatus, ...], rules: RollUpRules
) -> bool:
    """Return whether another revision of the component works, which suffices."""
    return rules.has_revisions(Reason(component.reason)) and any(
        each.reason == component.reason and each.state is State.CURRENT for each in components
    )
