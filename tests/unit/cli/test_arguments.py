"""The arguments of status, wait and explain."""

import pytest

from reporter.cli.source_arguments import parse_target
from reporter.cli.status import STATUS
from reporter.cli.wait import WAIT, parse_wait
from reporter.settings import SettingsError
from reporter.status.source import EVERYTHING, Target


def parsed(*argv):
    return STATUS.parse(argv)


def refusal(*argv) -> str:
    with pytest.raises(SettingsError) as refused:
        parsed(*argv)
    return str(refused.value)


@pytest.mark.parametrize(
    "argv",
    [
        ["-o", "json"],
        ["-ojson"],
        ["-o=json"],
        ["--output", "json"],
        ["--output=json"],
        ["-output=json"],
        ["-o", "yaml", "-o", "json"],
    ],
    ids=" ".join,
)
def test_a_flag_may_be_written_in_every_way_that_kubectl_takes(argv):
    found = parsed("team-a", *argv)
    assert (found.values["output"], found.names) == ("json", ["team-a"])


@pytest.mark.parametrize("argv", [["-A"], ["--all-namespaces"], ["--all-namespaces=true"]])
def test_a_boolean_takes_no_argument(argv):
    found = parsed(*argv, "team-a")
    assert found.is_set("all-namespaces")
    assert found.names == ["team-a"]


def test_flags_of_run_are_kept_for_the_evaluation():
    found = parsed("--kaito-namespace", "kube-system", "-keda-namespace=", "team-a")
    assert found.run_flags == ("--kaito-namespace=kube-system", "--keda-namespace=")
    assert found.names == ["team-a"]


def test_a_flag_of_run_is_not_taken_for_a_short_one():
    assert parsed("-node-provisioner-name=karpenter").run_flags == (
        "--node-provisioner-name=karpenter",
    )


def test_after_two_dashes_everything_is_a_name():
    assert parsed("--", "-A").names == ["-A"]


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["--outptu=json"], "--outptu: there is no such flag; did you mean --output?"),
        (["--kaito-namespac=x"], "did you mean --kaito-namespace?"),
        (["--leader-elect=false"], "--leader-elect: is a flag of run only"),
        (["--hub-interval-seconds=5"], "--hub-interval-seconds: is a flag of hub only"),
        (["---output=json"], "unexpected argument '---output=json'; flags begin with --"),
        (["-Aw"], "-Aw: there is no such flag"),
        (["-A=maybe"], "--all-namespaces=maybe: must be true or false"),
        (["-o"], "--output: needs a value"),
        (["--watch=maybe"], "--watch=maybe: must be true or false"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_a_refused_flag_is_named_with_what_to_do(argv, expected):
    assert expected in refusal(*argv)


@pytest.mark.parametrize(
    ("names", "namespace", "expected"),
    [
        ([], "", EVERYTHING),
        (["cluster"], "", Target(is_cluster=True)),
        (["team-a"], "", Target("team-a")),
        (["team-a/qwen"], "", Target("team-a", "qwen")),
        ([], "team-a", Target("team-a")),
        (["qwen"], "team-a", Target("team-a", "qwen")),
        (["team-a/qwen"], "team-a", Target("team-a", "qwen")),
        (["cluster"], "team-a", Target("team-a", "cluster")),
    ],
)
def test_names_lead_to_a_target(names, namespace, expected):
    assert parse_target(names, namespace) == expected


@pytest.mark.parametrize(
    ("names", "namespace", "expected"),
    [
        (["a", "b"], "", "unexpected argument 'b'"),
        (["team-a/qwen"], "team-b", "--namespace=team-b: is not that of team-a/qwen"),
        (["../secrets"], "", "'..' must be the name of a namespace"),
        (["team-a/x%2F.."], "", "the part after the / must be the name of an object"),
        (["team-a/a/b"], "", "the part after the / must be the name of an object"),
        (["Team"], "", "'Team' must be the name of a namespace"),
    ],
)
def test_what_is_no_name_never_becomes_a_path(names, namespace, expected):
    with pytest.raises(SettingsError) as refused:
        parse_target(names, namespace)
    assert expected in str(refused.value)


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        ([], "name what to wait for"),
        (["team-a", "--for=happy"], "--for=happy: must be one of ready, available, gone"),
        (["cluster", "--for=gone"], "the cluster can only be waited for to be ready"),
        (["team-a", "--timeout=soon"], "--timeout=soon: must be a duration"),
        (["team-a", "--timeout=grace"], "--timeout=grace: must be a duration"),
        (["team-a", "--from=file:x"], "a dump does not change"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_what_cannot_be_waited_for_is_refused(argv, expected):
    with pytest.raises(SettingsError) as refused:
        parse_wait(WAIT.parse(argv))
    assert expected in str(refused.value)
