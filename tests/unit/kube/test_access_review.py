from reporter.kube.access_review import (
    Permission,
    PermissionStatus,
    format_missing_permissions,
)


DEPLOYMENTS = [Permission(verb, "apps", "deployments") for verb in ("list", "watch")]
EVENTS = Permission("create", "", "events", "kube-system")
POOLS = Permission("list", "inference.networking.k8s.io", "inferencepools")
REASONS = {
    DEPLOYMENTS[0]: {"clusterKedaNotReady", "clusterBBRNotReady"},
    DEPLOYMENTS[1]: {"clusterBBRNotReady"},
    POOLS: {"modelharnessNetworkPolicyMisconfigured", "inferencesetEPPNotReady"},
}


def test_the_table_has_missing_permissions_and_the_reasons_that_stay_unknown():
    grants = [
        *((right, PermissionStatus.MISSING) for right in DEPLOYMENTS),
        (EVENTS, PermissionStatus.MISSING),
        (POOLS, PermissionStatus.GRANTED),
    ]
    assert format_missing_permissions(grants, REASONS).splitlines() == [
        "MISSING      ON                     UNKNOWN REASONS",
        "list, watch  deployments.apps       clusterBBRNotReady, clusterKedaNotReady",
        "create       events in kube-system  -",
    ]


def test_nothing_missing_makes_no_table():
    assert format_missing_permissions([(POOLS, PermissionStatus.GRANTED)], REASONS) == ""


def test_a_permission_that_could_not_be_reviewed_is_not_called_missing():
    assert format_missing_permissions(
        [(POOLS, PermissionStatus.UNKNOWN), (EVENTS, PermissionStatus.GRANTED)], REASONS
    ) == ("1 of 2 permissions could not be checked.")


def test_the_table_is_at_most_100_wide_and_breaks_no_reason():
    everything = [
        Permission(verb, group, resource, namespace)
        for verb in ("get", "list", "watch", "create", "update", "patch")
        for group, resource in (
            ("inference.networking.k8s.io", "inferencepools"),
            ("coordination.k8s.io", "leases"),
        )
        for namespace in ("", "a-namespace-with-a-rather-long-name")
    ]
    reasons = {
        "modelharnessNetworkPolicyMisconfigured",
        "modelharnessCatchAllFilterRejected",
        "modelharnessExtAuthzProviderMissing",
    }
    text = format_missing_permissions(
        [(right, PermissionStatus.MISSING) for right in everything],
        dict.fromkeys(everything, reasons),
    )
    assert max(map(len, text.splitlines())) <= 100
    assert all(reason in text for reason in reasons)


def test_a_permission_is_formatted_as_kubectl_does():
    lease = Permission("update", "coordination.k8s.io", "leases", "kaito-system", "reporter")
    assert str(lease) == "update leases.coordination.k8s.io reporter in kaito-system"
