"""Find the pods of reporters, and reach one through the API server's proxy."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from http import HTTPStatus
from typing import NamedTuple

import msgspec

from reporter.kube.client import RestClient
from reporter.kube.decoding import decode_json
from reporter.kube.errors import KubeError, Refused
from reporter.settings.parsers import BindAddress, parse_address
from reporter.status.http_source import ANSWERS, MAX_BYTES, Fetched
from reporter.status.source import StatusQueryFailed


SELECTOR = "app.kubernetes.io/component=status-reporter"
HUB_SELECTOR = "app.kubernetes.io/component=status-hub"
"""The labels that the chart gives to the pods of reporters and of hubs."""

ADDRESS_FLAG = "status-bind-address"
ANY_INTERFACE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104  # compared, not bound
INSIDE = (
    "its status address is inside of the pod alone: run kubectl port-forward -n {namespace} {name}"
    " 8082 and use --from={url}http://127.0.0.1:8082, or open it with the chart's value"
    " {value}=:8082"
)


class Asked(NamedTuple):
    """
    The program in the pods that are asked.

    *url*: what ``--from`` has before its URL. *value*: that of the chart for its status address.
    *instead*: another way to ask.
    """

    selector: str
    program: str
    url: str
    value: str
    instead: str


REPORTER = Asked(SELECTOR, "reporter", "", "statusBindAddress", "--from=cluster")
HUB = Asked(HUB_SELECTOR, "hub", "hub:", "statusBindAddress", "--from=hub:URL")


class _Metadata(msgspec.Struct):
    name: str
    namespace: str


class _VolumeMount(msgspec.Struct, rename="camel"):
    name: str
    mount_path: str


class _Container(msgspec.Struct, rename="camel"):
    args: list[str] | None = None
    volume_mounts: list[_VolumeMount] | None = None


class _KeyToPath(msgspec.Struct):
    key: str
    path: str


class _ConfigMapSource(msgspec.Struct):
    name: str = ""
    items: list[_KeyToPath] | None = None


class _Volume(msgspec.Struct, rename="camel"):
    name: str
    config_map: _ConfigMapSource | None = None


class _Spec(msgspec.Struct):
    containers: list[_Container] = []
    volumes: list[_Volume] | None = None


class _Condition(msgspec.Struct):
    type: str
    status: str


class _Status(msgspec.Struct):
    conditions: list[_Condition] | None = None


class _Pod(msgspec.Struct):
    metadata: _Metadata
    spec: _Spec
    status: _Status = msgspec.field(default_factory=_Status)


class _PodList(msgspec.Struct):
    items: list[_Pod] | None = None


_DECODER = msgspec.json.Decoder(_PodList)


class MountedConfigMap(msgspec.Struct, frozen=True):
    """A ConfigMap that is mounted into a folder. *keys*: by file name, where that is not the key itself."""

    folder: str
    name: str
    keys: Mapping[str, str] = msgspec.field(default_factory=dict)


class ReporterPod(msgspec.Struct, frozen=True):
    """
    A pod of a reporter. *arguments*: of its first container, which the chart gives flags alone.

    *config_maps*: those that are mounted into that container.
    """

    namespace: str
    name: str
    is_ready: bool = False
    arguments: tuple[str, ...] = ()
    config_maps: tuple[MountedConfigMap, ...] = ()

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def flags(self) -> Mapping[str, str]:
        """The flags by name that are written as ``--flag=value``."""
        pairs = (each.lstrip("-").partition("=") for each in self.arguments if "=" in each)
        return {name: text for name, _, text in pairs}

    def config_map_of(self, path: str) -> tuple[str, str] | None:
        """Return the name of the ConfigMap in which a file of the pod is, and its key; None if in none."""
        folder, _, file = path.rpartition("/")
        found = (each for each in self.config_maps if each.folder.rstrip("/") == folder)
        return next(((each.name, each.keys.get(file, file)) for each in found), None)

    @property
    def bind_address(self) -> BindAddress | None:
        """The address of its status page inside of the pod; None without one."""
        try:
            return parse_address(self.flags.get(ADDRESS_FLAG, "0"))
        except ValueError:
            return None

    @property
    def status_address(self) -> BindAddress | None:
        """The address of its status page; None if the proxy cannot reach it."""
        address = self.bind_address
        return address if address is not None and not address.is_loopback else None

    def own_url(self, environ: Mapping[str, str]) -> str:
        """
        Return the URL of its status page for a program in this pod, as with kubectl exec, else an empty text.
        """
        here = (environ.get("POD_NAMESPACE"), environ.get("POD_NAME"))
        address = self.bind_address
        if address is None or here != (self.namespace, self.name):
            return ""
        anywhere = address.host in ANY_INTERFACE
        return f"http://{address._replace(host='127.0.0.1') if anywhere else address}"


async def find_reporter_pods(
    api: RestClient, namespace: str = "", selector: str = SELECTOR
) -> tuple[ReporterPod, ...]:
    """
    Return the pods with the labels of *selector*, ready ones first.

    *namespace*: the only one that is looked at; empty: all. Raises KubeError, and StatusQueryFailed for a
    list that cannot be decoded.
    """
    within = f"/namespaces/{namespace}" if namespace else ""
    response = await api.call(
        "GET",
        f"/api/v1{within}/pods",
        # Of the API server's cache: a read of etcd would go through all pods of the cluster.
        query=(("labelSelector", selector), ("resourceVersion", "0")),
        operation="list pods",
    )
    try:
        found = decode_json(_DECODER, response.body).items or []
    except msgspec.DecodeError as err:
        raise StatusQueryFailed(f"the list of the reporter's pods cannot be read: {err}") from err
    pods = (
        ReporterPod(
            each.metadata.namespace,
            each.metadata.name,
            any(c.type == "Ready" and c.status == "True" for c in each.status.conditions or ()),
            tuple(each.spec.containers[0].args or ()) if each.spec.containers else (),
            tuple(_config_maps(each.spec)),
        )
        for each in found
    )
    return tuple(sorted(pods, key=lambda each: (not each.is_ready, each.namespace, each.name)))


def _config_maps(spec: _Spec) -> Iterator[MountedConfigMap]:
    """Yield the ConfigMaps that are mounted into the first container."""
    volumes = {each.name: each.config_map for each in spec.volumes or ()}
    for mount in spec.containers[0].volume_mounts or () if spec.containers else ():
        source = volumes.get(mount.name)
        if source is not None:
            keys = {each.path: each.key for each in source.items or ()}
            yield MountedConfigMap(mount.mount_path, source.name, keys)


class PodFetcher:
    """
    Asks through ``pods/proxy``, which needs the permission to get it.

    A pod that does not answer may have been replaced: the next question finds another one.
    """

    def __init__(self, api: RestClient, pod: ReporterPod, asked: Asked = REPORTER) -> None:
        self.description = f"the {asked.program} in pod {pod}"
        self._asked = asked
        self._api, self._pod, self._is_lost = api, pod, False

    async def fetch(
        self,
        path: str,
        query: Sequence[tuple[str, str]],
        headers: Mapping[str, str],
        time_limit: timedelta,
    ) -> Fetched:
        """
        Send one GET to the pod's status address through the API server's pods/proxy.

        A pod that failed before is replaced by the next ready one. Raises StatusQueryFailed if RBAC refuses
        the proxy, the pod has no address that the proxy reaches or does not answer, or it asks for a token,
        which the proxy does not pass on.
        """
        pod = self._pod = await self._find_again() if self._is_lost else self._pod
        port = self._port_of(pod)
        try:
            answer = await self._api.call(
                "GET",
                f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}:{port}/proxy{path}",
                query=query,
                headers=headers,
                timeout=time_limit,
                max_bytes=MAX_BYTES,
                from_pod=True,
                expected=ANSWERS,
                operation=f"read {path} of pod {pod}",
            )
        except KubeError as err:
            self._is_lost = not isinstance(err, Refused)
            raise self._query_failed(pod, err) from err
        self._is_lost = answer.status == HTTPStatus.SERVICE_UNAVAILABLE
        if answer.status == HTTPStatus.UNAUTHORIZED:
            raise self._token_needed(pod, port)
        return Fetched(answer.status, answer.headers, answer.body)

    def _query_failed(self, pod: ReporterPod, err: KubeError) -> StatusQueryFailed:
        if isinstance(err, Refused):
            return StatusQueryFailed(
                f"pod {pod} cannot be asked: {err.why}; grant get on pods/proxy in namespace"
                f" {pod.namespace}, or use {self._asked.instead}"
            )
        return StatusQueryFailed(
            f"pod {pod} cannot be asked through the API server: {err.why}; the chart's value"
            f" networkPolicy.statusFrom must let the API server in, or use {self._asked.instead}",
            may_pass=True,
            retry_after=err.retry_after,
        )

    def _token_needed(self, pod: ReporterPod, port: int) -> StatusQueryFailed:
        return StatusQueryFailed(
            f"pod {pod} asks for a token, which the API server's proxy does not pass on: run kubectl"
            f" port-forward -n {pod.namespace} {pod.name} {port} and use"
            f" --from={self._asked.url}http://127.0.0.1:{port}"
        )

    def _port_of(self, pod: ReporterPod) -> int:
        address = pod.status_address
        if address is None:
            why = INSIDE.format(
                namespace=pod.namespace,
                name=pod.name,
                url=self._asked.url,
                value=self._asked.value,
            )
            raise StatusQueryFailed(f"pod {pod} cannot be asked: {why}")
        return address.port

    async def _find_again(self) -> ReporterPod:
        namespace = self._pod.namespace
        try:
            found = await find_reporter_pods(self._api, namespace, self._asked.selector)
        except KubeError as err:
            raise StatusQueryFailed(
                f"the pods of the {self._asked.program} cannot be found: {err.why}",
                may_pass=True,
                retry_after=err.retry_after,
            ) from err
        ready = [pod for pod in found if pod.is_ready]
        if not ready:
            raise StatusQueryFailed(
                f"no pod of the {self._asked.program} in {namespace} is ready", may_pass=True
            )
        self._is_lost = False
        # Of hubs only the leader answers, so the next one is asked, and after the last one the first.
        others = [pod for pod in ready if pod.name > self._pod.name]
        return (others or ready)[0]

    async def close(self) -> None:
        """Close the connections to the API server."""
        await self._api.close()
