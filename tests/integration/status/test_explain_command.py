"""The command explain, and the kubectl plugin."""

import subprocess
import sys
from pathlib import Path

from devcluster.server import DevCluster
from reporter.cli.command_line import run_plugin
from tests.integration.status.asking import MODEL_POD, ask, ask_about, scale_to_zero, server
from tests.support.command_line import run_command_line_beside
from tests.support.own_reasons import REASON, a_reason, an_overlay


__all__ = ["server"]


async def test_a_reason_is_explained_without_any_cluster():
    ended = await ask("explain", "clusterkaitocontrollernotready", HOME="/nonexistent")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("Reason:        clusterKaitoControllerNotReady\n")
    assert "Suppresses:\n" in ended.out


async def test_a_reason_of_an_overlay_has_the_meaning_that_is_written_there(tmp_path: Path):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(an_overlay({**a_reason(), "meaning": "A service of ours is away."}))
    ended = await ask("explain", REASON, f"--catalogue-overlay={overlay}")
    assert "Meaning:\n  A service of ours is away.\n" in ended.out


async def test_a_subject_of_another_kind_is_no_reason(server: DevCluster, tmp_path: Path):
    name = "team-a/InferenceService/llama"
    flags = ("--from=cluster", "--packs=kserve")
    ended = await ask_about(server, tmp_path, "explain", name, *flags)
    assert (ended.code, "there is no reason" in ended.err) == (1, False)
    assert "not found: " in ended.err


async def test_a_reason_of_another_pack_is_named_with_its_pack():
    ended = await ask("explain", "inferenceserviceSpecInvalid", HOME="/nonexistent")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "productionstack-status-reporter: inferenceserviceSpecInvalid is a reason of the pack"
        " kserve; add --packs=kserve\n"
    )
    ended = await ask("explain", "inferenceserviceSpecInvalid", "--packs=kserve", HOME="/none")
    assert (ended.code, ended.err) == (0, "")
    assert "Reason:        inferenceserviceSpecInvalid\n" in ended.out


async def test_a_subject_is_explained_from_the_symptom_to_the_root(
    server: DevCluster, tmp_path: Path
):
    scale_to_zero(server)
    waiting = {"waiting": {"reason": "ContainerCreating"}}
    server.cluster.patch(
        *MODEL_POD,
        {
            "status": {
                "conditions": [{"type": "Ready", "status": "False"}],
                "containerStatuses": [{"name": "vllm", "ready": False, "state": waiting}],
            }
        },
        subresource="status",
    )
    ended = await ask_about(server, tmp_path, "explain", "team-a/qwen", "--from=cluster")
    assert ended.code == 0
    chain = ended.out.splitlines()
    symptom = chain.index("inferencesetModelPodsNotReady (the symptom)")
    assert chain[symptom + 1] == "  ↳ because of clusterKaitoControllerNotReady (the root)"
    assert chain[symptom + 2].startswith("    KAITO's controller creates and repairs model pods")


async def test_what_is_current_is_blocked_by_nothing(server: DevCluster, tmp_path: Path):
    ended = await ask_about(server, tmp_path, "explain", "team-a", "--from=cluster")
    assert ended.out.splitlines()[-1] == "Nothing blocks it."


async def test_each_command_has_a_help_in_eighty_columns():
    for command in ("status", "wait", "explain"):
        ended = await ask(command, "--help")
        assert (ended.code, ended.err) == (0, "")
        assert max(len(line) for line in ended.out.splitlines()) <= 80
        assert "Exit codes: " in ended.out


async def test_the_plugin_is_the_command_status(server: DevCluster, tmp_path: Path):
    config = server.write_kubeconfig(tmp_path / "kubeconfig")
    argv = ("team-a", "-o", "name", "--from=cluster", f"--kubeconfig={config}")
    ended = await run_command_line_beside(*argv, run=run_plugin)
    assert (ended.returncode, ended.stdout.splitlines()) == (0, ["team-a", "team-a/qwen"])


def test_the_plugin_explains_too():
    program = "from reporter.cli.__main__ import main_plugin; main_plugin()"
    argv = (sys.executable, "-c", program, "explain", "clusterBBRNotReady")
    ended = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    assert ended.stdout.startswith("Reason:        clusterBBRNotReady")
