"""A control plane with the Job controller and kwok, whose API server tests may stop."""

import secrets
from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane, Options
from e2e.support.production_stack.components import namespace_manifest


@pytest.fixture(scope="package")
def plane() -> Iterator[ControlPlane]:
    with ControlPlane(Options()) as plane:
        yield plane


@pytest.fixture
def team(plane: ControlPlane) -> str:
    """A namespace for this test alone; it ends with the control plane."""
    name = f"team-{secrets.token_hex(4)}"
    plane.client.create("/api/v1/namespaces", namespace_manifest(name))
    return name
