"""The checks that are evaluated when there are very many: each name of a check may have Events."""

from collections import defaultdict
from collections.abc import Mapping

from reporter.kinds.batch import JOBS, Job
from reporter.kinds.objects import ApiObject, NamespacedName
from reporter.resources.check_result import Inconclusive
from reporter.snapshot.cow_map import FrozenMap
from reporter.snapshot.snapshot import Snapshot


MAX_NAMES = 200
MAX_NAMES_OF_NAMESPACE = 20


def names_by_namespace(snapshot: Snapshot) -> Mapping[str, frozenset[str]]:
    """
    Return the names of the checks that are evaluated, by namespace, for each that has a check.

    They are the first in the order of names. One name counts once, for however many InferenceSets.
    """
    return snapshot.tables[JOBS.resource].objects.derive(_limit_names)


def _limit_names(jobs: FrozenMap[NamespacedName, ApiObject]) -> Mapping[str, frozenset[str]]:
    names: defaultdict[str, set[str]] = defaultdict(set)
    for job in jobs.values():
        if isinstance(job, Job):
            names[job.metadata.namespace].add(job.check)
    first = {where: sorted(each)[:MAX_NAMES_OF_NAMESPACE] for where, each in names.items()}
    everywhere = sorted({name for each in first.values() for name in each})[:MAX_NAMES]
    return {where: frozenset(each).intersection(everywhere) for where, each in first.items()}


def check_limit(snapshot: Snapshot, namespace: str, name: str) -> Inconclusive | None:
    """Return an inconclusive result for a check beyond the limits."""
    if name in names_by_namespace(snapshot).get(namespace, frozenset()):
        return None
    return Inconclusive(
        f"check {name} is beyond the limit of {MAX_NAMES_OF_NAMESPACE} names of checks in a"
        f" namespace and {MAX_NAMES} in the cluster, of which the first in their order are"
        " evaluated; use fewer names, or one name for several InferenceSets"
    )
