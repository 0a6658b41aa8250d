"""The required permissions."""

from dataclasses import replace

from reporter.controller.permissions import PermissionNeeds, permissions_for, required_permissions
from reporter.controller.watched_kinds import crds_to_track, kinds_to_watch
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.health_events import HEALTH_EVENTS
from reporter.kinds.nvsentinel import node_health_events
from reporter.kube.access_review import Permission
from reporter.settings import ScrapeMode
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.settings import settings


LEASE = Permission("get", "coordination.k8s.io", "leases", "kaito", "reporter")


def needed(lease: Permission | None = LEASE):
    return required_permissions(DEFAULT_CATALOGUE, PermissionNeeds(lease=lease))


def test_every_kind_that_is_read_may_be_listed_and_watched_and_no_secret():
    every = needed()
    for kind in kinds_to_watch(DEFAULT_CATALOGUE):
        for verb in ("list", "watch"):
            assert every[Permission(verb, kind.group, kind.resource)]
    assert not any(right.resource == "secrets" for right in every)


def test_only_what_is_used_is_asked_for():
    assert {(r.verb, r.resource) for r in needed() if r.namespace} == {
        ("create", "events"),
        ("patch", "events"),
        ("get", "events"),
        ("list", "events"),
        ("create", "leases"),
        ("get", "leases"),
        ("update", "leases"),
    }
    assert {r.verb for r in needed() if not r.namespace} == {"list", "watch"}


def test_the_lease_is_named_where_rbac_can_name_it():
    every = needed()
    group = "coordination.k8s.io"
    assert Permission("update", group, "leases", "kaito", "reporter") in every
    # A create has no name yet that a rule could be limited to.
    assert Permission("create", group, "leases", "kaito") in every


def test_without_election_no_lease_is_asked_for():
    assert not any(right.resource == "leases" for right in needed(None))


def test_status_objects_may_be_read_and_their_status_patched_if_they_are_switched_on():
    off = required_permissions(DEFAULT_CATALOGUE, PermissionNeeds())
    on = required_permissions(DEFAULT_CATALOGUE, PermissionNeeds(status_objects=True))
    assert sorted(map(str, on.keys() - off.keys())) == [
        "list productionstackstatuses.reporter.productionstack.kaito.sh",
        "patch productionstackstatuses.reporter.productionstack.kaito.sh/status",
        "watch productionstackstatuses.reporter.productionstack.kaito.sh",
    ]


def test_readers_are_reviewed_with_rights_of_their_own():
    without, reviewing = (
        required_permissions(DEFAULT_CATALOGUE, PermissionNeeds(lease=LEASE, reviews=reviews))
        for reviews in (False, True)
    )
    assert {str(each): reviewing[each] for each in reviewing.keys() - without.keys()} == {
        "create tokenreviews.authentication.k8s.io": {"none: the status is shown to nobody"},
        "create subjectaccessreviews.authorization.k8s.io": {
            "none: the status is shown to nobody"
        },
    }
    named, found = (
        permissions_for(settings(*flags), DEFAULT_CATALOGUE, mode=ScrapeMode.DIRECT).keys()
        for flags in ((), ("--status-authorization=kubernetes",))
    )
    assert found - named == reviewing.keys() - without.keys()


def test_health_events_are_kept_in_one_namespace_alone():
    off = required_permissions(DEFAULT_CATALOGUE, PermissionNeeds())
    kind = replace(HEALTH_EVENTS, namespace="stack")
    on = required_permissions(DEFAULT_CATALOGUE, PermissionNeeds(store=kind))
    added = on.keys() - off.keys()
    assert {each.namespace for each in added} == {"stack"}
    assert {(each.verb, each.resource) for each in added} == {
        ("list", "healthevents"),
        ("watch", "healthevents"),
        ("create", "healthevents"),
        ("delete", "healthevents"),
        ("patch", "healthevents/status"),
    }


def test_kind_of_nvsentinel_is_never_patched():
    off = required_permissions(DEFAULT_CATALOGUE, PermissionNeeds())
    kind = node_health_events("healthevents.nvsentinel.dgxc.nvidia.com", "stack")
    on = required_permissions(DEFAULT_CATALOGUE, PermissionNeeds(store=kind))
    assert sorted(map(str, on.keys() - off.keys())) == [
        f"{verb} healthevents.nvsentinel.dgxc.nvidia.com in stack"
        for verb in ("create", "delete", "list", "watch")
    ]


def test_each_right_names_the_reasons_that_need_it():
    assert "clusterBBRNotReady" in needed()[Permission("list", "apps", "deployments")]


def test_those_for_events_come_first_then_the_lease_then_the_kinds_as_they_are_listed():
    order = list(dict.fromkeys(each.resource for each in needed()))
    kinds = [kind.resource for kind in kinds_to_watch(DEFAULT_CATALOGUE)]
    assert order == ["events", "leases", *kinds]


def test_kinds_are_listed_in_the_order_in_which_they_explain():
    kinds = kinds_to_watch(DEFAULT_CATALOGUE)
    assert list(kinds) == [kind for kind in DEFAULT_KINDS if kind in kinds]


def test_the_presence_of_each_custom_kind_that_is_read_is_followed():
    followed = crds_to_track(DEFAULT_CATALOGUE)
    read = {k.group_resource for k in kinds_to_watch(DEFAULT_CATALOGUE) if not k.is_built_in}
    assert read <= followed
    assert {"gateways.gateway.networking.k8s.io", "scaledobjects.keda.sh"} <= followed
    assert not {"pods", "namespaces", "deployments.apps"} & followed
