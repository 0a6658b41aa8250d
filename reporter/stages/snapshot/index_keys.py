"""The index of each table: the keys of its kind, and those that scraping needs."""

from collections.abc import Callable
from typing import Any

from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.core.pods import PODS, Pod
from reporter.stages.snapshot.loading import has_page, is_loading


def loading_pods_key(namespace: str) -> str:
    """Return the key of the pods of a namespace that may be loading a model."""
    return f"loading={namespace}"


def index_func(kind: ResourceKind) -> Callable[[Any], tuple[str, ...]]:
    """Return the function that gives the keys under which an object of this kind is found."""
    return _pod_keys if kind.table == PODS.resource else kind.index_keys


def _pod_keys(pod: Pod) -> tuple[str, ...]:
    keys = PODS.index_keys(pod)
    return (
        (*keys, loading_pods_key(pod.metadata.namespace))
        if has_page(pod) and is_loading(pod)
        else keys
    )
