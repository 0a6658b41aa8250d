"""The API server's own way to have one client wait: API Priority and Fairness."""

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from e2e.controlplane import ApiError, ControlPlane, Json, reporter_rights, until
from e2e.support.reporter_process import NAMESPACE


API = "flowcontrol.apiserver.k8s.io/v1"
NAME = "no-share"
TOGETHER = 6
LEVEL: Json = {
    "apiVersion": API,
    "kind": "PriorityLevelConfiguration",
    "metadata": {"name": NAME},
    "spec": {
        "type": "Limited",
        "limited": {
            "nominalConcurrencyShares": 0,
            "borrowingLimitPercent": 0,
            "limitResponse": {"type": "Reject"},
        },
    },
}
ACCOUNT = {"namespace": NAMESPACE, "name": reporter_rights.NAME}
SCHEMA: Json = {
    "apiVersion": API,
    "kind": "FlowSchema",
    "metadata": {"name": NAME},
    "spec": {
        "priorityLevelConfiguration": {"name": NAME},
        "matchingPrecedence": 2,
        "rules": [
            {
                "subjects": [{"kind": "ServiceAccount", "serviceAccount": ACCOUNT}],
                "resourceRules": [
                    {
                        "verbs": ["*"],
                        "apiGroups": ["*"],
                        "resources": ["*"],
                        "clusterScope": True,
                        "namespaces": ["*"],
                    }
                ],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            }
        ],
    },
}


@contextlib.contextmanager
def throttled_account(plane: ControlPlane) -> Iterator[None]:
    """
    Give the reporter's ServiceAccount, and no other user, a priority level without a share. Of
    requests at the same time all but one are refused with 429, and a crowd keeps sending requests
    in its name.
    """
    token = plane.service_account_token(NAMESPACE, reporter_rights.NAME)
    theirs = plane.client_of(token)

    def refused(_: int) -> bool:
        try:
            theirs.get("/api/v1/namespaces", limit="1")
        except ApiError as err:
            return err.status == 429
        return False

    def any_refused() -> bool:
        with ThreadPoolExecutor(TOGETHER) as many:
            return any(many.map(refused, range(TOGETHER)))

    def crowd(_: int) -> None:
        while not enough.is_set():
            refused(0)

    enough = Event()
    for manifest in (LEVEL, SCHEMA):
        plane.client.apply(manifest)
    try:
        until(any_refused, within=30, what="the API server has no seat for the reporter")
        with ThreadPoolExecutor(TOGETHER) as many:
            many.map(crowd, range(TOGETHER))
            try:
                yield
            finally:
                enough.set()
    finally:
        for manifest in (SCHEMA, LEVEL):
            plane.client.delete(plane.client.path(manifest))
        until(lambda: not any_refused(), within=30, what="the API server has seats again")
