"""The registry of the kinds that are served now."""

import re
from collections.abc import Iterable, Iterator, Sequence

from devcluster.schema.api_errors import Json, PathNotFound, no_such_resource
from devcluster.schema.builtin_kinds import BUILTIN_GROUPS, BUILTIN_KINDS
from devcluster.schema.crds import served_kinds
from devcluster.schema.kinds import ServedKind


_STABILITY_RANK = {"": 2, "beta": 1, "alpha": 0}


class KindRegistry:
    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str, str], ServedKind] = {}
        self._add(BUILTIN_KINDS)

    def __iter__(self) -> Iterator[ServedKind]:
        return iter(self._kinds.values())

    def _add(self, kinds: Iterable[ServedKind]) -> None:
        for kind in kinds:
            self._kinds[kind.group, kind.version, kind.resource] = kind

    def add_crd(self, crd: Json) -> None:
        """Serve the versions of a CRD instead of those that it had before."""
        self.remove_crd(crd)
        if "deletionTimestamp" not in crd["metadata"]:
            self._add(served_kinds(crd))

    def remove_crd(self, crd: Json) -> None:
        group, resource = crd["spec"]["group"], crd["spec"]["names"]["plural"]
        for kind in self.versions(group, resource):
            del self._kinds[kind.group, kind.version, kind.resource]

    def versions(self, group: str, resource: str) -> list[ServedKind]:
        """Return the kinds of one resource, the storage version first."""
        return [k for k in self._kinds.values() if (k.group, k.resource) == (group, resource)]

    def resolve(self, group: str, version: str, resource: str) -> ServedKind:
        """Return the kind of a path. Raise the real server's 404 if it is not served."""
        found = self._kinds.get((group, version, resource))
        if found:
            return found
        if group in BUILTIN_GROUPS:
            raise no_such_resource()
        raise PathNotFound

    def by_group_resource(self, qualified: str) -> ServedKind:
        """Return the kind of `deployments.apps` or `pods`. Raise KeyError if it is not served."""
        resource, _, group = qualified.partition(".")
        for kind in self.versions(group, resource):
            return kind
        raise KeyError(qualified)

    def by_type_meta(self, api_version: str, kind_name: str) -> ServedKind:
        """Return the kind of a manifest. Raise KeyError if it is not served."""
        for kind in self._kinds.values():
            if (kind.api_version, kind.kind) == (api_version, kind_name):
                return kind
        raise KeyError(f"{api_version} {kind_name}")

    def groups(self) -> dict[str, dict[str, list[ServedKind]]]:
        """Return the kinds by group and version, the preferred version first."""
        found: dict[str, dict[str, list[ServedKind]]] = {}
        for kind in self._kinds.values():
            found.setdefault(kind.group, {}).setdefault(kind.version, []).append(kind)
        return {
            group: {version: found[group][version] for version in _preferred_first(found[group])}
            for group in found
        }


def _preferred_first(versions: Iterable[str]) -> Sequence[str]:
    return sorted(versions, key=_version_priority, reverse=True)


def _version_priority(version: str) -> tuple[int, int, int]:
    found = re.fullmatch(r"v(\d+)(?:(alpha|beta)(\d+))?", version)
    if found is None:
        return (-1, 0, 0)
    return (_STABILITY_RANK[found[2] or ""], int(found[1]), int(found[3] or 0))
