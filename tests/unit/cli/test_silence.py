"""The command ``silence``, as a user starts it."""

from functools import partial

import pytest
import yaml

from reporter.catalogue.silence_file import read_silence_file
from reporter.model.silences import SilenceText
from tests.support.command_line import run_command_line


POD_REASON, ROUTE_REASON = "inferencesetModelPodsNotReady", "inferencesetRouteNotReady"
WHY = "--why=the weights move"


silence = partial(run_command_line, "silence", USER="alice")


def test_it_prints_the_annotations_of_an_inference_set():
    done = silence("team-m/qwen", f"{POD_REASON},{ROUTE_REASON}", "--until=2099-01-01", WHY)
    assert (done.returncode, done.stderr) == (0, "")
    prefix = "reporter.productionstack.kaito.sh/silence-"
    assert yaml.safe_load(done.stdout) == {
        "apiVersion": "kaito.sh/v1beta1",
        "kind": "InferenceSet",
        "metadata": {
            "namespace": "team-m",
            "name": "qwen",
            "annotations": {
                f"{prefix}until": "2099-01-01T00:00:00Z",
                f"{prefix}reasons": f"{POD_REASON},{ROUTE_REASON}",
                f"{prefix}why": "the weights move",
                f"{prefix}by": "alice",
            },
        },
    }


def test_it_prints_those_of_a_namespace():
    done = silence("qwen", "all", "-n", "team-m", "--until", "90m", WHY, "--by=bob")
    found = yaml.safe_load(done.stdout)
    assert (found["kind"], found["metadata"]["name"]) == ("InferenceSet", "qwen")
    found = yaml.safe_load(silence("team-m", "all", "--until=90m", WHY).stdout)
    assert (found["apiVersion"], found["kind"]) == ("v1", "Namespace")
    assert "namespace" not in found["metadata"]


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (
            ("cluster", "clusterKedaNotReady"),
            SilenceText("silences.yaml:2", reasons=("clusterKedaNotReady",)),
        ),
        (
            ("team-m/qwen", POD_REASON, "--file"),
            SilenceText("silences.yaml:2", "team-m", "qwen", (POD_REASON,)),
        ),
        (
            ("team-m/InferenceService/qwen", "all"),
            SilenceText("silences.yaml:2", "team-m", "InferenceService/qwen", ("all",)),
        ),
    ],
    ids=str,
)
def test_an_entry_of_the_file_is_read_as_it_was_meant(tmp_path, argv, expected):
    done = silence(*argv, "--until=2099-01-01T00:00:00+02:00", WHY)
    path = tmp_path / "silences.yaml"
    path.write_text(done.stdout)
    (found,) = read_silence_file(path).silences
    assert (found.namespace, found.inferenceset) == (expected.namespace, expected.inferenceset)
    assert (found.reasons, found.until) == (expected.reasons, "2098-12-31T22:00:00Z")
    assert (found.by, found.problem) == ("alice", "")


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (("team-m",), "name what to silence"),
        (("team-m", "all", WHY), "--until: is needed"),
        (("team-m", "all", "--until=2099-01-01"), "--why: is needed"),
        (("team-m", "all", "--until=2020-01-01", WHY), "--until=2020-01-01: is over already"),
        (("team-m", "all", "--until=soon", WHY), "--until=soon: must be a time such as"),
        (("team-m", "all", "--until=90", WHY), "a duration from now with its unit, such as 90m"),
        (("team-m", "inferencesetModelPodNotReady", "--until=1h", WHY), f'mean "{POD_REASON}"?'),
        (("team-m", "clusterKedaNotReady", "--until=1h", WHY), "is of the layer cluster"),
        (("team-m", "inferencesetReady", "--until=1h", WHY), "announces recovery"),
        (("Team_M", "all", "--until=1h", WHY), "'Team_M'"),
        (("team-m", "all", "--until=1h", WHY, "-o", "json"), "--output: does not apply to"),
        (("list", "--why=x"), "--why: does not apply to list"),
        (("list", "--from=reporter"), "--from=reporter: must be cluster or file:PATH"),
        (("list", "a", "b"), "unexpected argument 'b'"),
        (("expire", "team-m", "-o", "json"), "--output: does not apply to expire"),
        (("expire",), "name whose silences end"),
        (("team-m", "all", "--until=1h", WHY, "--aply"), "did you mean --apply?"),
        (("team-m", "all", "--until=soon", "--why", "help"), "--until=soon: must be a time"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_what_is_refused_is_named_and_exits_with_two(argv, expected):
    done = silence(*argv)
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_name_of_the_user_it_must_be_given():
    asked = ("silence", "team-m", "all", "--until=1h", WHY)
    refused = run_command_line(*asked, USER="")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--by: is needed: who silences" in refused.stderr
    given = run_command_line(*asked, "--by=bob", USER="")
    assert (given.returncode, "silence-by: bob" in given.stdout) == (0, True)


@pytest.mark.parametrize("name", ["list", "expire"])
def test_a_namespace_may_be_called_as_a_command(name: str):
    done = silence(name, "all", "--until=1h", WHY)
    assert (done.returncode, yaml.safe_load(done.stdout)["metadata"]["name"]) == (0, name)


def test_its_help_fits_into_eighty_columns():
    done = silence("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80
