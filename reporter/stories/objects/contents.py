"""The contents of objects as the API shows them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from reporter.model.kinds.base.objects import ApiObject
from reporter.stories.notation.syntax import apply_merge_patch, resolve_times


def whole_content(
    named: Mapping[str, Any], words: Mapping[str, Any], *, born: datetime, now: datetime
) -> dict[str, Any]:
    """
    Return the content of an object that is given by fields of the API. *named*: its name and namespace.
    """
    metadata = {
        **named,
        "uid": f"uid-{named['name']}",
        "generation": 1,
        "creationTimestamp": born.isoformat(),
    }
    whole: dict[str, Any] = resolve_times(
        apply_merge_patch({"metadata": metadata}, words), now=now
    )
    return whole


def as_content(built: ApiObject) -> dict[str, Any]:
    """Return the content of an object that was built: without the fields that it does not have."""
    content: dict[str, Any] = _without_nulls(msgspec.to_builtins(built))
    return content


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list | tuple) else value
