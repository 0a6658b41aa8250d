"""
Read the file that names the Deployments of the control plane, in place of two flags for each.

    kaito: kube-system/kaito-workspace
    bbr: ""            # not checked
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from reporter.model.suggest import suggest
from reporter.settings.arguments import FlagInput
from reporter.settings.errors import SettingsError


MAX_BYTES = 64 * 1024
FLAG = "components-file"
PLACE = re.compile(r"([^/]+(/[^/]+)?)?")
"""NAMESPACE, NAMESPACE/DEPLOYMENT, or empty."""

COMPONENT_FLAGS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "istio": ("istio-namespace", "istiod-deployment"),
        "gateway-auth": ("gateway-auth-namespace", "gateway-auth-deployment"),
        "azure-authz": ("azure-authz-namespace", "azure-authz-deployment"),
        "bbr": ("bbr-namespace", "bbr-deployment"),
        "kaito": ("kaito-namespace", "kaito-deployment"),
        "node-provisioner": ("node-provisioner-namespace", "node-provisioner-name"),
        "keda": ("keda-namespace", ""),
        "keda-scaler": ("keda-scaler-namespace", "keda-scaler-deployment"),
    }
)
"""The flags of each component: of its namespace, and of its Deployment if that may have another name."""


def read_components_file(path: Path) -> Mapping[str, FlagInput]:
    """
    Return the flags that the file sets, as if they had been given.

    Raise SettingsError for a file that cannot be read, or names another component or place.
    """
    given = f"--{FLAG}={path}"
    found: dict[str, FlagInput] = {}
    for name, text in _read_pairs(path, given):
        if name not in COMPONENT_FLAGS:
            known = ", ".join(COMPONENT_FLAGS)
            offer = suggest(name, COMPONENT_FLAGS, otherwise=f"known are {known}")
            raise SettingsError(given, f"there is no component {name!r}; {offer}")
        for flag, value in zip(COMPONENT_FLAGS[name], text.split("/"), strict=False):
            if not flag:
                raise SettingsError(given, f"{name}: name its namespace alone")
            found[flag] = FlagInput(value, f"{given}: {name}: --{flag}")
    return found


def _read_pairs(path: Path, given: str) -> Iterator[tuple[str, str]]:
    import yaml  # noqa: PLC0415  most processes have no such file

    try:
        if not path.is_file():
            raise SettingsError(given, "there is no such file")
        content = path.read_bytes()
        if len(content) > MAX_BYTES:
            raise SettingsError(given, f"has more than {MAX_BYTES} bytes")
        pairs = yaml.safe_load(content) or {}
        root = yaml.compose(content, Loader=yaml.SafeLoader)
    except OSError as err:
        raise SettingsError(given, f"cannot be read: {err.strerror}") from err
    except (yaml.YAMLError, ValueError, RecursionError) as err:
        raise SettingsError(given, f"is not YAML: {' '.join(str(err).split())}") from err
    if not isinstance(pairs, dict):
        raise SettingsError(given, "must be lines such as `kaito: kaito-system/kaito-workspace`")
    keys = [key.value for key, _ in root.value] if isinstance(root, yaml.MappingNode) else []
    for name, value in pairs.items():
        if keys.count(name) > 1:
            raise SettingsError(given, f"names {name} twice; remove one")
        text = "" if value is None else value
        if not isinstance(text, str) or not PLACE.fullmatch(text):
            raise SettingsError(
                given, f"{name}: must be NAMESPACE/DEPLOYMENT, or empty: not checked"
            )
        yield str(name), text
