"""
Changes of objects on a control plane without controllers, which are undone with their status.
"""

import contextlib
from collections.abc import Iterator

from e2e.controlplane import Client, Json
from e2e.support.production_stack import components, statuses
from e2e.support.production_stack.components import StackComponent


@contextlib.contextmanager
def changed_spec(client: Client, path: str, spec: Json) -> Iterator[None]:
    """Change keys of a spec, and restore them and the status, as a controller would."""
    before = client.get(path)
    client.patch(path, {"spec": spec})
    try:
        yield
    finally:
        client.patch(path, {"spec": {key: before["spec"].get(key) for key in spec}})
        statuses.write_status(client, before, before["status"])


def scaled_to_zero(
    client: Client, component: StackComponent
) -> contextlib.AbstractContextManager[None]:
    return changed_spec(client, components.path(component), {"replicas": 0})
