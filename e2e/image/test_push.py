"""The image goes to a registry, as `make image-push` brings it there."""

import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from e2e.image import IMAGE, base
from e2e.image.storage import Storage
from e2e.support.registry import Registry


NAME = "productionstack-status-reporter"
PROJECT = tomllib.loads((base.DOCKERFILE.parent / "pyproject.toml").read_text())["project"]
VERSION = PROJECT["version"]

pytestmark = [pytest.mark.slow, pytest.mark.controlplane]


def test_the_pushed_image_is_the_built_one(storage: Storage, tmp_path: Path) -> None:
    with Registry(tmp_path) as registry:
        where = f"{registry.host}/team"
        storage.tag(IMAGE, f"{where}/{NAME}:{VERSION}")
        done = subprocess.run(
            ["make", "image-push", f"REGISTRY={where}", "CONTAINER_TOOL=buildah"],
            cwd=base.DOCKERFILE.parent,
            env=storage.environment_for(registry.host),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        pushed = json.loads(registry.crane("config", f"team/{NAME}:{VERSION}"))
        manifest = json.loads(registry.crane("manifest", f"team/{NAME}:{VERSION}"))
    assert pushed["config"]["Labels"] == storage.inspect(IMAGE)["OCIv1"]["config"]["Labels"]
    size = sum(layer["size"] for layer in manifest["layers"])
    print(f"{size / 1e6:.0f} MB to pull")
