"""The state of each kind's watch, as far as discovery confirms it."""

from collections.abc import Container, Iterable, Mapping
from datetime import datetime, timedelta

from msgspec.structs import replace

from reporter.kinds.resource_kind import ResourceKind
from reporter.model.observations import (
    FORGOTTEN_VERSION,
    CRDPresence,
    DiscoveryResult,
    NotServed,
    NotSynced,
    Watching,
    WatchLost,
    WatchState,
)


# --------------------------------------------------------------------
# The presence of a CRD, derived from repeated discovery.
#
# One discovery that lacks a resource proves nothing: the API server may just be starting. A loss
# counts once a second discovery, at least ten seconds later, agrees.


LOSS_CONFIRMED_AFTER = timedelta(seconds=10)


class CRDPresences:
    """The presence of each tracked resource, by ``resource.group``."""

    def __init__(self, crds: Iterable[str]) -> None:
        self.by_resource: Mapping[str, CRDPresence] = {crd: CRDPresence() for crd in crds}

    def set_resources(self, crds: Iterable[str]) -> None:
        """Track these resources alone. What is known of one that is tracked already is kept."""
        known = self.by_resource
        self.by_resource = {crd: known.get(crd, CRDPresence()) for crd in crds}

    def remember_served(self, served: Container[str]) -> None:
        """Remember of CRDs that a predecessor of this process saw them served."""
        self.by_resource = {
            crd: replace(each, ever_served=each.ever_served | {FORGOTTEN_VERSION})
            if crd in served
            else each
            for crd, each in self.by_resource.items()
        }

    def record(self, result: DiscoveryResult | None, why: str, *, now: datetime) -> bool:
        """Update every presence and return whether any changed; None is a failure, with *why*."""
        before = self.by_resource
        self.by_resource = {
            crd: mark_discovery_failed(each, why)
            if result is None
            else update_presence(each, result, crd, now=now)
            for crd, each in before.items()
        }
        return self.by_resource != before

    def served_version(self, kind: ResourceKind) -> str | None:
        """
        Return the served version in which to read a kind; None while unknown, or if none can be read.

        It is the preferred one for a kind that discovery does not track, as those of the core group.
        """
        presence = self.by_resource.get(kind.group_resource)
        if presence is None:
            return kind.versions[0]
        return next(iter(kind.readable_versions(presence.versions or ())), None)

    @property
    def has_unconfirmed_loss(self) -> bool:
        """
        True while a CRD, or a version of one, is missing and no later discovery has confirmed that.

        The next discovery is then made sooner.
        """
        return any(each.missing_since is not None for each in self.by_resource.values())


def update_presence(
    before: CRDPresence, result: DiscoveryResult, crd: str, *, now: datetime
) -> CRDPresence:
    """Return the presence of *crd* (``resource.group``) after one more discovery."""
    if crd.partition(".")[2] in result.failed_groups:
        return replace(before, why_unknown="discovery of its API group failed")
    versions = result.served_versions.get(crd, ())
    namespaced = result.namespaced.get(crd)
    if before.versions is not None and before.versions == versions:
        if (
            before.missing_since is None
            and not before.why_unknown
            and before.namespaced == namespaced
        ):
            return before
        return replace(before, missing_since=None, why_unknown="", namespaced=namespaced)
    # A gain counts at once; only a loss needs a second discovery.
    if versions and set(versions) >= set(before.versions or ()):
        return CRDPresence(
            versions,
            since=now,
            why_unknown="",
            ever_served=before.ever_served | set(versions),
            namespaced=namespaced,
        )
    if before.missing_since is None:
        return replace(before, missing_since=now, why_unknown="")
    if now - before.missing_since < LOSS_CONFIRMED_AFTER:
        return replace(before, why_unknown="")
    return CRDPresence(
        versions,
        since=before.missing_since,
        why_unknown="",
        ever_served=before.ever_served | set(versions),
        namespaced=namespaced,
    )


def mark_discovery_failed(before: CRDPresence, why: str) -> CRDPresence:
    """Return the presence after a discovery that failed as a whole: the same, with *why*."""
    return replace(before, why_unknown=why)


class WatchStates:
    """
    The states that reflectors report.

    A kind that a reflector finds not served (404) is *contradicted* if a discovery that ran after
    that lists it.
    """

    def __init__(self, kinds: Iterable[ResourceKind], presences: CRDPresences) -> None:
        self._presences = presences
        self._states: dict[ResourceKind, WatchState] = {kind: NotSynced() for kind in kinds}
        self._contradicted: frozenset[ResourceKind] = frozenset()

    def set_kinds(self, kinds: Iterable[ResourceKind]) -> None:
        """Keep the states of these kinds alone. Those that are new were not listed yet."""
        self._states = {kind: self._states.get(kind, NotSynced()) for kind in kinds}
        self._contradicted &= self._states.keys()

    def set(self, kind: ResourceKind, state: WatchState) -> bool:
        """Set the state that a reflector reports and return whether it is another one."""
        if self._states[kind] == state:
            return False
        self._states[kind] = state
        self._contradicted -= {kind}
        return True

    def record_discovery(self, result: DiscoveryResult) -> bool:
        """Compare losses with a discovery and return whether that changes anything."""
        before = self._contradicted
        self._contradicted = frozenset(
            kind
            for kind, state in self._states.items()
            if isinstance(state, NotServed) and kind.group_resource in result.served_versions
        )
        return before != self._contradicted

    def of(self, kind: ResourceKind) -> WatchState:
        """
        Return the state of a kind that a pass may rely on.

        A kind that answers with 404 is NotServed only if discovery does not contradict that (see
        `confirm_unserved`). A kind that is declared with the wrong scope is NotSynced, with why, even if
        it was listed before.
        """
        presence = self._presences.by_resource.get(kind.group_resource)
        namespaced = presence.namespaced if presence is not None else None
        if why := kind.why_misdeclared(namespaced=namespaced):
            return NotSynced(why, refused=True)
        state = self._states.get(kind, NotSynced())
        return confirm_unserved(kind, state, presence, contradicted=kind in self._contradicted)

    def is_gone(self, kind: ResourceKind) -> bool:
        """
        Return whether a declared kind is certainly not served, so that none of its objects is left.

        A missing kind of the program's own is trouble, about which its objects are kept.
        """
        if not (kind.is_declared and isinstance(self._states.get(kind), NotServed)):
            return False
        presence = self._presences.by_resource.get(kind.group_resource)
        return presence is not None and presence.is_known and not presence.versions

    def waited_for(self) -> Mapping[str, str]:
        """
        Return why each kind whose first list is awaited is not listed yet, by its *watch_name*.

        A kind whose list the API server refuses is not awaited. One that fails is awaited as long as no
        other kind was listed.
        """
        states = {kind: self.of(kind) for kind in self._states}
        lists_any = any(isinstance(state, Watching | WatchLost) for state in states.values())
        return {
            kind.watch_name: state.why or "being listed"
            for kind, state in states.items()
            if isinstance(state, NotSynced)
            and not (state.refused or (state.failing and lists_any))
        }


def confirm_unserved(
    kind: ResourceKind, state: WatchState, presence: CRDPresence | None, *, contradicted: bool
) -> WatchState:
    """
    Return *state*, but NotSynced, with why, in place of a NotServed that is not believed.

    It is not believed of a built-in kind, before discovery has answered, and if discovery lists the kind
    after the 404 or in versions that cannot be read. A single 404 proves little: many a proxy sends the
    very text of an API server. A kind that is served in versions that cannot be read has objects that
    nobody sees.

    *presence*: None if discovery does not track the kind. *contradicted*: a discovery that ran after
    the 404 lists the kind all the same.
    """
    if not isinstance(state, NotServed):
        return state
    if kind.is_built_in:
        return NotSynced("answered with 404 Not Found, though every API server has it")
    if presence is None or presence.missing_since is not None:
        return state
    if presence.versions is None:
        return NotSynced(f"answered with 404 Not Found, and {presence.why_unknown}")
    if not presence.versions:
        return state
    if not kind.readable_versions(presence.versions):
        return NotSynced(
            f"served as {', '.join(presence.versions)} only,"
            f" this release reads {' and '.join(kind.versions)}",
            refused=True,
        )
    why = "answered with 404 Not Found, though discovery lists it"
    return NotSynced(why, failing=True) if contradicted else state
