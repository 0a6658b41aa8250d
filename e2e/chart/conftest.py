"""
Fixtures: helm, promtool for all parameters of a test, and a namespace to install releases in.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.chart.alerts.promtool import AlertTest, errors_by_name
from e2e.chart.helm import Helm, Json
from e2e.chart.installed import NAMESPACE
from e2e.chart.leftovers import remove_kept_crds
from e2e.controlplane import ControlPlane, until
from e2e.support.production_stack import restore


@pytest.fixture
def helm(tmp_path: Path) -> Helm:
    return Helm(tmp_path)


AlertErrors = Callable[[Json, Callable[..., AlertTest]], str]


@pytest.fixture(scope="module")
def _alert_errors() -> dict[str, dict[str, str]]:
    return {}


@pytest.fixture
def alert_errors(
    request: pytest.FixtureRequest, _alert_errors: dict[str, dict[str, str]], tmp_path: Path
) -> AlertErrors:
    """
    Return a function of rules and of what makes an AlertTest of parameters, which returns the errors.

    One process of promtool runs the test with all parameters that it has in this session.
    """
    test = request.function.__name__

    def errors(rules: Json, make: Callable[..., AlertTest]) -> str:
        if test not in _alert_errors:
            _alert_errors[test] = _errors_of_all(request, rules, make, tmp_path)
        return _alert_errors[test][request.node.name]

    return errors


def _errors_of_all(
    request: pytest.FixtureRequest, rules: Json, make: Callable[..., AlertTest], folder: Path
) -> dict[str, str]:
    tests, unmade = {}, {}
    for each in request.session.items:
        if isinstance(each, pytest.Function) and each.function is request.function:
            try:
                tests[each.name] = make(**each.callspec.params)
            except AssertionError as err:
                unmade[each.name] = f"no test: {err}"
    return errors_by_name(rules, tests, folder) | unmade


@pytest.fixture
def installer(tmp_path: Path, control_plane: ControlPlane) -> Helm:
    """Return helm with the permissions of a cluster administrator."""
    return Helm(tmp_path, control_plane.kubeconfig())


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    """
    Yield a control plane with a namespace that enforces the restricted Pod Security Standard.
    """
    restricted = {"pod-security.kubernetes.io/enforce": "restricted"}
    meta = {"name": NAMESPACE, "labels": restricted}
    stack.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
    with restore.healthy_stack(stack) as plane:
        yield plane
    remove_kept_crds(stack)
    stack.client.delete(f"/api/v1/namespaces/{NAMESPACE}")
    gone = lambda: not stack.client.exists(f"/api/v1/namespaces/{NAMESPACE}")  # noqa: E731
    until(gone, within=120, what="the namespace of the releases is gone")
