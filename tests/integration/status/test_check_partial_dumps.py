"""Packs in dumps of a part of a cluster, or of one whose CRDs differ from what a pack declares."""

from pathlib import Path

import pytest
import yaml

from reporter.stories.format import apply_merge_patch
from tests.integration.status.asking import ask
from tests.integration.status.test_check_command import SERVICE


async def test_a_controller_that_a_dump_does_not_have_is_unknown(tmp_path: Path):
    dump = tmp_path / "dump.yaml"
    others = [each for each in SERVICE if each["kind"] not in ("Namespace", "Deployment")]
    named = {"name": "dns", "namespace": "kube-system"}
    dns = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": named}
    dump.write_text(yaml.safe_dump_all([*others, dns]))
    ended = await ask("check", f"--from={dump}", "--packs=kserve", "--startup-grace-seconds=0")
    cluster = next(line for line in ended.out.splitlines() if line.startswith("cluster"))
    assert cluster.split()[1:] == ["Unknown", "clusterKServeControllerNotReady"]


@pytest.mark.parametrize(
    ("scope", "state"), [("Namespaced", "Progressing"), ("Cluster", "Unknown")]
)
async def test_a_kind_whose_crd_has_another_scope_is_unknown(
    tmp_path: Path, scope: str, state: str
):
    dump = tmp_path / "dump.yaml"
    crd = apply_merge_patch(SERVICE[-1], {"spec": {"scope": scope}})
    dump.write_text(yaml.safe_dump_all([*SERVICE[:-1], crd]))
    ended = await ask("check", f"--from={dump}", "--packs=kserve", "--at=2026-01-02T00:00:00Z")
    assert f" {state} " in ended.out
    assert ("Unknown" in ended.out) is (scope == "Cluster")
