"""
Which kinds are served now.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from reporter.embedded.builtin import BUILTIN, GROUPS
from reporter.embedded.crds import kinds_of
from reporter.embedded.kinds import Kind
from reporter.embedded.statuses import Json, PageNotFound, no_such_resource


_STAGES = {"": 2, "beta": 1, "alpha": 0}


class Registry:
    def __init__(self) -> None:
        self._kinds: dict[tuple[str, str, str], Kind] = {}
        self.revision = 0
        """
        Grows with every change, for whoever keeps something derived from this.
        """
        self._add(BUILTIN)

    def __iter__(self) -> Iterator[Kind]:
        return iter(self._kinds.values())

    def _add(self, kinds: Iterable[Kind]) -> None:
        for kind in kinds:
            self._kinds[kind.group, kind.version, kind.resource] = kind
        self.revision += 1

    def serve(self, crd: Json) -> None:
        """
        Serve what the CRD says now, and nothing that it said before.
        """
        self.withdraw(crd)
        if "deletionTimestamp" not in crd["metadata"]:
            self._add(kinds_of(crd))

    def withdraw(self, crd: Json) -> None:
        group, resource = crd["spec"]["group"], crd["spec"]["names"]["plural"]
        for kind in self.versions(group, resource):
            del self._kinds[kind.group, kind.version, kind.resource]
        self.revision += 1

    def versions(self, group: str, resource: str) -> list[Kind]:
        """
        The kinds of one resource, the storage version first.
        """
        return [k for k in self._kinds.values() if (k.group, k.resource) == (group, resource)]

    def resolve(self, group: str, version: str, resource: str) -> Kind:
        """
        The kind of a path; otherwise the 404 that the real server has for it.
        """
        found = self._kinds.get((group, version, resource))
        if found:
            return found
        if group in GROUPS:
            raise no_such_resource()
        raise PageNotFound

    def named(self, qualified: str) -> Kind:
        """
        The kind of `deployments.apps` or `pods`; KeyError if it is not served.
        """
        resource, _, group = qualified.partition(".")
        for kind in self.versions(group, resource):
            return kind
        raise KeyError(qualified)

    def of(self, api_version: str, kind_name: str) -> Kind:
        """
        The kind of a manifest; KeyError if it is not served.
        """
        for kind in self._kinds.values():
            if (kind.api_version, kind.kind) == (api_version, kind_name):
                return kind
        raise KeyError(f"{api_version} {kind_name}")

    def groups(self) -> dict[str, dict[str, list[Kind]]]:
        """
        Kinds by group and version, the preferred version first.
        """
        found: dict[str, dict[str, list[Kind]]] = {}
        for kind in self._kinds.values():
            found.setdefault(kind.group, {}).setdefault(kind.version, []).append(kind)
        return {
            group: {version: found[group][version] for version in _preferred_first(found[group])}
            for group in found
        }


def _preferred_first(versions: Iterable[str]) -> Sequence[str]:
    return sorted(versions, key=_maturity, reverse=True)


def _maturity(version: str) -> tuple[int, int, int]:
    found = re.fullmatch(r"v(\d+)(?:(alpha|beta)(\d+))?", version)
    if found is None:
        return (-1, 0, 0)
    return (_STAGES[found[2] or ""], int(found[1]), int(found[3] or 0))
