"""
The required permissions, and the log lines about missing ones.
"""

import logging

import pytest

from reporter.embedded.http.faults.rules import status_response
from reporter.embedded.server import EmbeddedServer
from reporter.kube.client.client import RestClient
from reporter.kube.objects.access_review import Permission
from reporter.model.kinds import DEFAULT_KINDS
from reporter.runtime.inputs import permissions as module
from reporter.runtime.inputs.permissions import (
    check_permissions,
    crds_to_track,
    kinds_to_watch,
    required_permissions,
)
from reporter.settings import ScrapeMode
from reporter.stages.probes.specs import SPECS
from tests.integration.leaderelection.test_elector import api, server
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


__all__ = ["api", "server"]

LEASE = Permission("get", "coordination.k8s.io", "leases", "kaito", "reporter")
REVIEWS = "selfsubjectaccessreviews"


def needed(lease: Permission | None = LEASE):
    return required_permissions(DEFAULT_CATALOGUE, SPECS, lease=lease)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        r.getMessage() for r in caplog.records if r.name == "reporter.runtime.inputs.permissions"
    ]


# ------------------------------------------------------------ what is needed


def test_every_kind_that_is_read_may_be_listed_and_watched_and_no_secret():
    every = needed()
    for kind in kinds_to_watch(DEFAULT_CATALOGUE, SPECS):
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
    off = required_permissions(DEFAULT_CATALOGUE, SPECS, lease=None)
    on = required_permissions(DEFAULT_CATALOGUE, SPECS, lease=None, status_objects=True)
    assert sorted(map(str, on.keys() - off.keys())) == [
        "list productionstackstatuses.reporter.productionstack.kaito.sh",
        "patch productionstackstatuses/status.reporter.productionstack.kaito.sh",
        "watch productionstackstatuses.reporter.productionstack.kaito.sh",
    ]


def test_health_events_are_kept_in_one_namespace_alone():
    off = required_permissions(DEFAULT_CATALOGUE, SPECS, lease=None)
    on = required_permissions(DEFAULT_CATALOGUE, SPECS, lease=None, store_namespace="stack")
    added = on.keys() - off.keys()
    assert {each.namespace for each in added} == {"stack"}
    assert {(each.verb, each.resource) for each in added} == {
        ("list", "healthevents"),
        ("watch", "healthevents"),
        ("create", "healthevents"),
        ("delete", "healthevents"),
        ("patch", "healthevents/status"),
    }


def test_each_right_names_the_reasons_that_need_it():
    assert "clusterBBRNotReady" in needed()[Permission("list", "apps", "deployments")]


def test_kinds_are_listed_in_the_order_in_which_they_explain():
    kinds = kinds_to_watch(DEFAULT_CATALOGUE, SPECS)
    assert list(kinds) == [kind for kind in DEFAULT_KINDS if kind in kinds]


def test_the_presence_of_each_custom_kind_that_is_read_is_followed():
    followed = crds_to_track(DEFAULT_CATALOGUE, SPECS)
    read = {
        k.group_resource for k in kinds_to_watch(DEFAULT_CATALOGUE, SPECS) if not k.is_built_in
    }
    assert read <= followed
    assert {"gateways.gateway.networking.k8s.io", "scaledobjects.keda.sh"} <= followed
    assert not {"pods", "namespaces", "deployments.apps"} & followed


# ------------------------------------------------------------ the log lines


async def test_granted_permissions_are_logged_in_one_line(
    server: EmbeddedServer, api: RestClient, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    await check_permissions(api, needed())
    assert lines(caplog) == [f"all {len(needed())} permissions that are needed are granted"]


async def test_missing_permissions_are_one_table_with_the_unknown_reasons(
    server: EmbeddedServer, api: RestClient, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    server.deny("watch", "apps", "deployments")
    server.deny("create", "", "events", "kube-system")
    await check_permissions(api, needed())
    logged = lines(caplog)
    assert (
        logged[0] == "RBAC permissions are missing; what needs them stays Unknown or lacks detail:"
    )
    assert logged[1].split() == ["MISSING", "ON", "UNKNOWN", "REASONS"]
    table = "\n".join(logged[2:])
    assert "watch" in table
    assert "deployments.apps" in table
    assert "clusterBBRNotReady" in table
    assert "events in kube-system" in table
    assert "list" not in table
    assert {record.levelname for record in caplog.records} == {"ERROR"}


async def test_what_could_not_be_asked_is_not_called_missing(
    server: EmbeddedServer, api: RestClient, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    unable = status_response(503, "ServiceUnavailable", "unable")
    server.faults.add(unable, path=REVIEWS, times=2)
    await check_permissions(api, needed())
    assert lines(caplog) == [f"2 of {len(needed())} permissions could not be checked."]
    assert {record.levelname for record in caplog.records} == {"WARNING"}


async def test_a_server_that_answers_nothing_is_asked_again(
    server: EmbeddedServer,
    api: RestClient,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
):
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(module, "RETRY_INTERVAL", 0.01)
    unable = status_response(503, "ServiceUnavailable", "unable")
    server.faults.add(unable, path=REVIEWS, times=2 * len(needed()))
    await check_permissions(api, needed())
    assert lines(caplog) == [f"all {len(needed())} permissions that are needed are granted"]


async def test_the_proxys_right_is_missed_softly_where_it_may_never_be_used(
    server: EmbeddedServer, api: RestClient, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.INFO)
    every = required_permissions(DEFAULT_CATALOGUE, SPECS, lease=None, mode=ScrapeMode.AUTO)
    server.deny("get", "", "pods/proxy")
    await check_permissions(api, every, mode=ScrapeMode.AUTO)
    assert {record.levelname for record in caplog.records} == {"INFO"}
    assert lines(caplog)[0].startswith("get pods/proxy is not granted")
    assert lines(caplog)[1] == f"all {len(every) - 1} permissions that are needed are granted"
    caplog.clear()
    await check_permissions(api, every, mode=ScrapeMode.PROXY)
    assert {record.levelname for record in caplog.records} == {"ERROR"}
