"""
Forget the causes of a roll-up when other rules follow: these name, rank and bound them in another way.
"""

import msgspec
from msgspec.structs import replace

from reporter.rollup.records import NamespaceRecord, RollUp, SetRecord, Standing


def without_causes(before: RollUp) -> RollUp:
    """
    Return the roll-up without the blockers of findings. The states stay, and since when they last.
    """
    cluster = before.cluster
    return msgspec.structs.replace(
        before,
        cluster=cluster and replace(cluster, standing=_without_cause(cluster.standing)),
        namespaces={name: _of_namespace(each) for name, each in before.namespaces.items()},
    )


def _of_namespace(record: NamespaceRecord) -> NamespaceRecord:
    return replace(
        record,
        standing=_without_cause(record.standing),
        harness=_without_cause(record.harness),
        sets={name: _of_set(each) for name, each in record.sets.items()},
        groups={key: group for key, group in record.groups.items() if not key.reason},
    )


def _of_set(record: SetRecord) -> SetRecord:
    standing = _without_cause(record.standing)
    return record if standing is record.standing else replace(record, standing=standing)


def _without_cause(standing: Standing) -> Standing:
    blocker = standing.blocker
    return standing if blocker is None or blocker.key is None else replace(standing, blocker=None)
