"""
Patches: what they make of an object. Pure.
"""

from typing import Any

from reporter.embedded.schema.api_errors import Json


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
"""
By which key the lists of built-in kinds are merged in a strategic patch; other lists are replaced.
"""


def apply_merge_patch(target: Any, patch: Any) -> Any:
    """
    RFC 7386: objects are merged, null removes, all else replaces.
    """
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = apply_merge_patch(result.get(key), value)
    return result


def apply_strategic_merge_patch(target: Any, patch: Json) -> Json:
    """
    As a merge patch, but lists of conditions, containers and the like are merged by their key.
    """
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


def _merge_list(old: list[Json], patches: list[Json], by: str) -> list[Json]:
    """
    Known items changed where they are, new ones in front, those with `$patch: delete` gone.
    """
    known = {item.get(by): item for item in old}
    new: list[Json] = []
    for patch in patches:
        key = patch.get(by)
        if patch.get("$patch") == "delete":
            known.pop(key, None)
        elif key in known:
            known[key] = apply_strategic_merge_patch(known[key], patch)
        else:
            new.append(apply_strategic_merge_patch({}, patch))
    return [*new, *known.values()]
