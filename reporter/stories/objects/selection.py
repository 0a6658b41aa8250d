"""
The objects of a story that the watch of their kind delivers.
"""

from collections.abc import Mapping
from typing import Any

from reporter.stories.notation.syntax import apply_merge_patch
from reporter.stories.objects.objects import ObjectAddress


def is_selected(address: ObjectAddress, words: Mapping[str, Any]) -> bool:
    """
    Return whether the selectors of a declared kind select an object.

    The short notation of the other kinds leaves out the labels that their watches select by.
    """
    if not address.kind.is_declared:
        return True
    named = {"name": address.name, "namespace": address.namespace}
    return address.kind.selector.matches(apply_merge_patch({"metadata": named}, words))
