"""
Workspaces and model pods of a case, built from its short notation.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.core.pods import Pod
from reporter.model.kinds.kaito.workspaces import Workspace
from tests.support.builders import an_observed_condition
from tests.support.model_builders import SERVING_CONDITIONS, a_model_pod, a_workspace


CONDITIONS = {
    "claims": "NodeClaimReady",
    "nodes": "NodesReady",
    "resources": "ResourceReady",
    "inference": "InferenceReady",
}
WORDS = frozenset({*CONDITIONS, "of", "pods", "state", "upgrade", "deleting", "silent"})


def case_workspace(
    name: str, words: Mapping, before: Iterable[Condition], *, now: datetime, **meta
) -> Workspace:
    """
    Build a Workspace from conditions as ``Reason: message``, which is False; ``ready`` unless
    given, ``none`` for absent.

    *of*: its InferenceSet. *pods*: the number of its pods. *upgrade*: the time of the request to
    upgrade in place. *silent*: without any condition.
    lastTransitionTime changes only with the status.
    """
    unknown = words.keys() - WORDS
    assert not unknown, f"a Workspace has no {', '.join(unknown)}"
    upgrade = words.get("upgrade")
    return a_workspace(
        name,
        of=words["of"],
        conditions=() if words.get("silent") else tuple(_conditions(words, before, now=now)),
        nodes=words.get("pods", 1),
        state=words.get("state", ""),
        deleted=now if words.get("deleting") else None,
        labels={"kaito.sh/upgrade-to-version": "0.2.0"} if upgrade else {},
        annotations={"kaito.sh/upgrade-start-time": upgrade} if upgrade else None,
        **meta,
    )


def _conditions(
    words: Mapping, before: Iterable[Condition], *, now: datetime
) -> Iterator[Condition]:
    known = {each.type: each for each in before}
    for word, kind in CONDITIONS.items():
        text = words.get(word, "ready")
        if text == "none":
            continue
        reason, _, message = text.partition(": ")
        status, reason = SERVING_CONDITIONS[kind] if text == "ready" else ("False", reason)
        old = known.get(kind)
        since = old.last_transition_time if old is not None and old.status == status else now
        yield an_observed_condition(kind, status, reason, message, since)


def case_pod(name: str, words: dict, **changes) -> Pod:
    """
    Build the pod ``<workspace>-<index>`` of a StatefulSet. *model*: its InferenceSet.
    """
    of, _, index = name.rpartition("-")
    return a_model_pod(int(index), of, of=words.pop("model"), **{**changes, **words})
