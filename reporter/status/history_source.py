"""Read the HealthEvents of a cluster once."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from reporter.kinds.health_events import HEALTH_EVENTS, HealthEvent
from reporter.kube.client import RestClient
from reporter.kube.errors import KubeError, NotFound, Refused, Unserved
from reporter.kube.lister import ListResult, list_all
from reporter.status.source import StatusQueryFailed


LIST_TIMEOUT = timedelta(seconds=30)

NOT_SERVED = (
    "the cluster has no HealthEvents: install their CRD, with the chart productionstack-status-crds,"
    " and keep episodes with --store=healthevents"
)


async def read_health_events(
    api: RestClient, namespace: str, note: Callable[[str], None]
) -> list[HealthEvent]:
    """
    Return the HealthEvents of all namespaces, or where these may not be listed those of *namespace*.

    *note* is told of what is left out. Raises StatusQueryFailed if there is no CRD, or no answer.
    """
    try:
        try:
            found = await _list(api, "")
        except Refused:
            found = await _list(api, namespace)
            note(f"the history is that of namespace {namespace}; others may not be listed")
    except (NotFound, Unserved) as err:
        raise StatusQueryFailed(NOT_SERVED) from err
    except KubeError as err:
        raise StatusQueryFailed(f"the history cannot be read: {err}") from err
    if found.undecodable:
        note(f"{len(found.undecodable)} HealthEvents cannot be decoded and are left out")
    return [each for each in found.objects if isinstance(each, HealthEvent)]


async def _list(api: RestClient, namespace: str) -> ListResult:
    (version,) = HEALTH_EVENTS.versions
    kind = replace(HEALTH_EVENTS, namespace=namespace)
    return await list_all(api, kind, version, page_timeout=LIST_TIMEOUT)
