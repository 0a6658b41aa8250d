"""Read a kind in all namespaces, or in one where not all may be listed."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.errors import NotFound, Refused, Unserved


Found = TypeVar("Found")


async def read_in_all_or_one(
    kind: ResourceKind, namespace: str, read: Callable[[str], Awaitable[Found]]
) -> tuple[Found, str]:
    """
    Return what *read* finds in all namespaces, for which it is given the empty text, or else in *namespace*.

    With it comes the one namespace that was read; empty if all were. Raises what *read* raises, and the
    refusal for a kind that is not read in a namespace.
    """
    try:
        return await read(""), ""
    except Refused as refused:
        if not (namespace and refused.is_forbidden) or kind.namespace:
            raise
        try:
            return await read(namespace), namespace
        except (NotFound, Unserved):
            # A kind without namespaces has no such address.
            raise refused from None
