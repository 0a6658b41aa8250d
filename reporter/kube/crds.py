"""Get CustomResourceDefinitions by name, as a whole: for who checks something by their schemas."""

from collections.abc import Iterable
from typing import Any

import msgspec

from reporter.kube.client import RestClient
from reporter.kube.decoding import decode_response
from reporter.kube.errors import NotFound


_JSON = msgspec.json.Decoder(Any)


async def get_crds(api: RestClient, names: Iterable[str]) -> list[Any]:
    """Return those that there are, such as ``inferencesets.kaito.sh``. Raises KubeError."""
    found = []
    for name in sorted(names):
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
        operation = f"get the CRD {name}"
        try:
            answer = await api.call("GET", path, operation=operation)
        except NotFound:
            continue
        found.append(decode_response(_JSON, answer.body, operation))
    return found
