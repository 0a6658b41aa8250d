"""A question that cannot be asked ends with 2, and the text says what to correct."""

from pathlib import Path

import pytest

from devcluster.server import DevCluster
from tests.integration.status.asking import ask_about, server
from tests.support.command_line import run_command_line


__all__ = ["server"]

URL = "--from=http://127.0.0.1:1"
HUB = "--from=hub:http://127.0.0.1:1"
AN_ADDRESS = "must be an address such as http://127.0.0.1:8082"


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["status", "--from=file:/nowhere"], "/nowhere: no such file or folder"),
        (["status", "--from=file:"], "names no file"),
        (["status", "--from=elsewhere"], "must be auto, reporter, cluster, file:PATH, or a URL"),
        (["status", "--from=http://"], AN_ADDRESS),
        (["status", "--from=http://[::1"], AN_ADDRESS),
        (["status", "--from=http://127.0.0.1:99999"], AN_ADDRESS),
        (["status", "--from=http://127.0.0.1:8082/?state=Failed"], AN_ADDRESS),
        (["status", "--at=noon", "--from=file:x"], "--at=noon: must be a time such as"),
        (["status", "--at=2026-01-01T00:00:00Z"], "--at: applies to dumps alone"),
        (["status", "--watch", "--from=file:x"], "--watch: a dump does not change"),
        (["status", "--watch", "--exit-code"], "--exit-code: --watch has no end to exit at"),
        (["status", "-A", "team-a"], "--all-namespaces: takes no name"),
        (["status", "-A", "-n", "team-a"], "--all-namespaces: takes no name"),
        (["status", "-o", "xml"], "--output=xml: must be one of table, wide, json, yaml, name"),
        (["status", "--kubeconfig=/nowhere"], "--kubeconfig=/nowhere: no such file"),
        (["status", "Team-A"], "must be the name of a namespace"),
        (["status", "team-a", "qwen"], "unexpected argument 'qwen'; name one subject, as NS/SET"),
        (["status", "--namespce=team-a"], "did you mean --namespace?"),
        (["status", "--leader-elect=false"], "is a flag of run only"),
        (["status", "-l", "a=b"], "-l: there is no such flag"),
        (["status", "-n"], "--namespace: needs a value"),
        (["status", URL, "--as=jane"], "--as: leads to a cluster"),
        (["status", URL, "--reporter-namespace=a"], "--reporter-namespace: leads to a cluster"),
        (["status", URL, "--kaito-namespace=a"], "--kaito-namespace: shapes what this program"),
        (["status", "--from=file:x", "--context=a"], "--context: leads to a cluster"),
        (["status", "--from=file:x", "--kubeconfig=/dev/null"], "--kubeconfig: leads to a clus"),
        (["status", "--from=reporter", "--catalogue-overlay=x"], "--catalogue-overlay: shapes"),
        (["status", "--from=file:x", "--catalogue-overlay=/nowhere"], "no such file"),
        (["status", "--from=file:x", "--settle-seconds=-1"], "must be a whole number of seconds"),
        (["status", "--from=hub:east"], "must be hub, or hub: and the URL of a hub"),
        (["status", "--from=hub:http://"], AN_ADDRESS),
        (["status", HUB, "--as=jane"], "--as: leads to a cluster"),
        (["status", HUB, "--kaito-namespace=a"], "--kaito-namespace: shapes what this program"),
        (["status", "--from=hub", "--settle-seconds=1"], "--settle-seconds: shapes what this"),
        (["status", HUB, "--at=2026-01-01T00:00:00Z"], "--at: applies to dumps alone"),
        (["status", HUB, "-n", "team-a"], "--namespace: does not apply to --from=hub"),
        (["status", HUB, "-A"], "--all-namespaces: does not apply to --from=hub"),
        (["status", HUB, "--watch", "--exit-code"], "--exit-code: --watch has no end"),
        (["explain", "team-a", "--from=hub"], "--from=hub: a hub answers status alone"),
        (["wait"], "name what to wait for"),
        (["wait", "team-a", "--timeout=10d"], "must be a duration such as 90s, 10m or 1h30m"),
        (["status", "--request-timeout=soon"], "--request-timeout=soon: must be a duration"),
        (
            ["status", "--from=file:x.yaml", "--request-timeout=soon"],
            "--request-timeout=soon: must be a duration",
        ),
        (["status", "--from=file:x", "--as=jane"], "--as: leads to a cluster"),
        (["wait", "team-a", "--for=healthy"], "must be one of ready, available, gone"),
        (["wait", "cluster", "--for=gone"], "the cluster can only be waited for to be ready"),
        (["wait", "team-a", URL, "--as=jane"], "--as: leads to a cluster"),
        (["explain"], "name what to explain"),
        (["explain", "clusterBBRNotRedy"], "did you mean clusterBBRNotReady?"),
        (["explain", "team-a", URL, "--keda-namespace=a"], "--keda-namespace: shapes what this"),
        (["staus"], "did you mean status?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_refused_command_line_names_what_is_wrong(argv, expected):
    ended = run_command_line(*argv, HOME="/nonexistent")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert expected in ended.stderr


@pytest.mark.parametrize("command", [["status"], ["wait", "team-a"], ["explain", "team-a"]])
def test_without_any_kubeconfig_it_is_named(command):
    ended = run_command_line(*command, HOME="/nonexistent")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "set --kubeconfig or KUBECONFIG" in ended.stderr


def test_a_kubeconfig_that_is_none_is_named(tmp_path: Path):
    for name, text in (("nothing", None), ("empty", ""), ("broken", "clusters: [")):
        path = tmp_path / name
        if text is not None:
            path.write_text(text)
        ended = run_command_line("status", KUBECONFIG=str(path))
        assert (ended.returncode, ended.stdout) == (2, ""), name
        assert str(path) in ended.stderr


async def test_an_unknown_context_is_named_with_those_there_are(
    server: DevCluster, tmp_path: Path
):
    ended = await ask_about(server, tmp_path, "status", "--context=production")
    assert (ended.code, ended.out) == (2, "")
    assert "--context=production: the kubeconfig has no such context; there are: " in ended.err


def test_a_refused_variable_is_named():
    ended = run_command_line("status", "--from=file:x", STATUS_REPORTER_KAITO_NAMESPACE="No_Name")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "STATUS_REPORTER_KAITO_NAMESPACE=No_Name: must be the name of a name" in ended.stderr


def test_a_catalogue_that_is_refused_is_named_with_the_line(tmp_path: Path):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("entries:\n  - reason: clusterBBRNotRedy\n    enabld: true\n")
    for argv in (["status", "--from=file:x"], ["explain", "clusterBBRNotReady"]):
        ended = run_command_line(*argv, f"--catalogue-overlay={overlay}")
        assert (ended.returncode, ended.stdout) == (2, "")
        assert f"{overlay}" in ended.stderr
        assert "the catalogue is refused" in ended.stderr
