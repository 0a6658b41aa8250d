"""The scope of a kind: whether its objects are in namespaces, which a catalogue declares."""

from collections.abc import Mapping
from types import MappingProxyType


CORE_SCOPES: Mapping[str, bool] = MappingProxyType(
    {
        "configmaps": True,
        "endpoints": True,
        "events": True,
        "limitranges": True,
        "persistentvolumeclaims": True,
        "pods": True,
        "podtemplates": True,
        "replicationcontrollers": True,
        "resourcequotas": True,
        "serviceaccounts": True,
        "services": True,
        "componentstatuses": False,
        "namespaces": False,
        "nodes": False,
        "persistentvolumes": False,
    }
)
"""
The resources of the core group, and whether they have namespaces (API reference). The group is not
among those that are discovered, and its resources never change their scope.
"""


def describe_other_scope(kind: str, *, namespaced: bool) -> str:
    """
    Return that a kind is declared with another scope, and what to do. *namespaced*: what it is.
    """
    if namespaced:
        return f"{kind} is declared without namespaces, and has them; remove `namespaced: false`"
    return f"{kind} is declared with namespaces, and has none; add `namespaced: false`"
