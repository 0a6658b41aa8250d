"""Each request to the API server is counted, by its verb and the status of its response."""

from contextlib import suppress
from datetime import timedelta

from reporter.kube.errors import KubeError
from tests.support.stubs.api_servers import (
    a_json_response,
    a_kubeconfig,
    a_status_response,
    abort_connection,
    connected,
    serving,
)


PODS = "/api/v1/pods"


async def test_requests_are_counted_with_their_outcome(tmp_path):
    async def handler(request):
        if request.method == "PATCH":
            return a_status_response(409, "Conflict")
        if request.path.endswith("/gone"):
            abort_connection(request)
        return a_json_response(b"{}")

    counted, verbs = [], []
    async with serving(handler) as server, connected(a_kubeconfig(tmp_path, server.url)) as api:
        api.requests.subscribe(lambda verb, status: counted.append((verb, status)))
        api.requests.subscribe(lambda verb, _: verbs.append(verb))
        await api.call("GET", PODS)
        with suppress(KubeError):
            await api.call("PATCH", "/api/v1/namespaces/a/events/x", body={})
        with suppress(KubeError):
            await api.call("GET", "/api/v1/namespaces/a/pods/gone")
        async with api.open_watch(PODS, [("watch", "true")], idle_timeout=timedelta(seconds=30)):
            pass
    assert counted == [("list", 200), ("patch", 409), ("get", None), ("watch", 200)]
    assert verbs == ["list", "patch", "get", "watch"]
