"""Strategic merge patches. Pure."""

from typing import Any

from devcluster.schema.api_errors import Json


_MERGE_KEYS = {
    "conditions": "type",
    "containers": "name",
    "initContainers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "ownerReferences": "uid",
    "imagePullSecrets": "name",
    "secrets": "name",
}
"""Merge keys of the lists in built-in kinds; a strategic merge patch replaces all other lists."""


def apply_strategic_merge_patch(target: Any, patch: Json) -> Json:
    """Apply a strategic merge patch: a merge patch that merges some lists by a key."""
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if key.startswith("$"):
            continue
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict):
            result[key] = apply_strategic_merge_patch(result.get(key), value)
        elif isinstance(value, list) and key in _MERGE_KEYS:
            result[key] = _merge_list(result.get(key) or [], value, _MERGE_KEYS[key])
        else:
            result[key] = value
    return result


def _merge_list(old: list[Json], patches: list[Json], merge_key: str) -> list[Json]:
    """
    Merge a list by a key: patch existing items in place, put new ones first, drop `$patch: delete`.
    """
    existing = {item.get(merge_key): item for item in old}
    new: list[Json] = []
    for patch in patches:
        key = patch.get(merge_key)
        if patch.get("$patch") == "delete":
            existing.pop(key, None)
        elif key in existing:
            existing[key] = apply_strategic_merge_patch(existing[key], patch)
        else:
            new.append(apply_strategic_merge_patch({}, patch))
    return [*new, *existing.values()]
