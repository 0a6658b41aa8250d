"""
Patch the status of ProductionStackStatuses, and nothing else of them.

Nothing is retried or decided here; every failure is raised as a KubeError.
"""

import msgspec

from reporter.kube.client.client import RestClient
from reporter.kube.wire.decoding import Json, decode_json
from reporter.kube.wire.errors import Unreachable
from reporter.model.kinds.productionstack.statuses import (
    PRODUCTION_STACK_STATUSES,
    ProductionStackStatus,
)


MERGE_PATCH = "application/merge-patch+json"

_DECODER = msgspec.json.Decoder(ProductionStackStatus)


class StatusObjectClient:
    def __init__(self, api: RestClient) -> None:
        self._api = api

    async def patch(
        self, found: ProductionStackStatus, patch: Json, *, version: str
    ) -> ProductionStackStatus:
        """
        Patch the status; returns the object as it is then. *version*: the API version to use.

        Conflict: somebody has changed the object since *found* was read. NotFound: it was deleted.
        Unserved: its CRD was. Invalid: the CRD does not allow this status.
        """
        kind, meta = PRODUCTION_STACK_STATUSES, found.metadata
        operation = f"patch status of {kind.group_resource} {meta.namespace}/{meta.name}"
        response = await self._api.call(
            "PATCH",
            f"/apis/{kind.group}/{version}/namespaces/{meta.namespace}"
            f"/{kind.resource}/{meta.name}/status",
            body=patch,
            content_type=MERGE_PATCH,
            operation=operation,
        )
        try:
            return decode_json(_DECODER, response.body)
        except msgspec.DecodeError as err:
            what = f"not a {kind.kind}: {err}"
            raise Unreachable(operation, status=200, message=what, may_have_applied=True) from err
