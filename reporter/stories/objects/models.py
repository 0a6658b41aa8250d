"""Workspaces and model pods of a story, built from its short notation."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from reporter.model.kinds.base.conditions import Condition
from reporter.model.kinds.core.pods import Pod
from reporter.model.kinds.kaito.workspaces import Workspace
from reporter.stories.notation.errors import StoryError
from reporter.stories.objects.conditions import build_observed_condition
from reporter.stories.objects.model_objects import (
    SERVING_CONDITIONS,
    build_model_pod,
    build_workspace,
)


CONDITIONS = {
    "claims": "NodeClaimReady",
    "nodes": "NodesReady",
    "resources": "ResourceReady",
    "inference": "InferenceReady",
}


def story_workspace(
    name: str,
    words: Mapping[str, Any],
    before: Iterable[Condition],
    *,
    now: datetime,
    **meta: Any,
) -> Workspace:
    """
    Build a Workspace from conditions as ``Reason: message``, which is False.

    A condition that is not given is ``ready``, which may have a message too; one that is ``none`` is absent.
    *before*: the conditions so far. lastTransitionTime changes only with the status.
    """
    if "of" not in words:
        raise StoryError("a Workspace names its InferenceSet: `of: NAME`")
    upgrade = words.get("upgrade")
    return build_workspace(
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
    words: Mapping[str, Any], before: Iterable[Condition], *, now: datetime
) -> Iterator[Condition]:
    known = {each.type: each for each in before}
    for word, kind in CONDITIONS.items():
        text = words.get(word, "ready")
        if text == "none":
            continue
        reason, _, message = text.partition(": ")
        status, reason = SERVING_CONDITIONS[kind] if reason == "ready" else ("False", reason)
        old = known.get(kind)
        since = old.last_transition_time if old is not None and old.status == status else now
        yield build_observed_condition(kind, status, reason, message, since)


def story_model_pod(name: str, words: Mapping[str, Any], **changes: Any) -> Pod:
    """Build the pod ``<workspace>-<index>`` of a StatefulSet. *model*: its InferenceSet."""
    of, _, index = name.rpartition("-")
    if not index.isdecimal():
        raise StoryError("a pod with `model` is named <workspace>-<index>")
    given = {key: word for key, word in words.items() if key != "model"}
    return build_model_pod(int(index), of, **{**changes, **given, "of": words["model"]})
