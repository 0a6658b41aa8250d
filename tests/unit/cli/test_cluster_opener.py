"""The configuration of an evaluation, and the moment of a dump."""

from datetime import UTC, datetime

import pytest

from reporter.cli.cluster_opener import evaluation_flags, files_of
from reporter.cli.command import AT
from reporter.cli.reporter_flags import describe_files
from reporter.settings import SettingsError, load_settings
from reporter.status.pod_fetcher import ReporterPod


def test_of_a_reporter_only_the_flags_that_shape_an_evaluation_are_taken():
    arguments = (
        "--kaito-namespace=kube-system",
        "--settle-seconds=10",
        "--weight-download-min-mbps=5",
        "--leader-elect=false",
        "--status-bind-address=:8082",
        "--log-format=json",
        "--catalogue-overlay=/etc/status-reporter/overlay.yaml",
        "--silence-file=/etc/status-reporter-silences/silences.yaml",
        "--components-file=/etc/status-reporter/components.yaml",
        "--a-flag-of-a-newer-release=1",
    )
    assert evaluation_flags(ReporterPod("a", "b", arguments=arguments)) == (
        "--kaito-namespace=kube-system",
        "--settle-seconds=10",
        "--weight-download-min-mbps=5",
    )


@pytest.mark.parametrize(
    ("packs", "taken"),
    [("kaito,kserve", ("--packs=kaito,kserve",)), ("kaito,/etc/status-reporter-packs/mine", ())],
)
def test_packs_are_taken_unless_they_are_folders_of_the_pod(packs, taken):
    assert evaluation_flags(ReporterPod("a", "b", arguments=(f"--packs={packs}",))) == taken


def test_a_file_of_the_pod_that_is_not_read_here_is_named(tmp_path):
    overlay = tmp_path / "overlay.yaml"
    overlay.touch()
    files = {
        "catalogue-overlay": overlay,
        "components-file": overlay,
        "packs": "/packs/mine",
    }
    pod = ReporterPod("a", "b", arguments=tuple(f"--{name}=/x" for name in files))
    flags = [
        [word.strip(".") for word in each.split() if "--" in word]
        for each in describe_files(files_of(pod), load_settings([], {}))
    ]
    assert flags == [["--catalogue-overlay"], ["--components-file"], ["--packs"]]
    given = [f"--{name}={text}" for name, text in files.items() if name != "packs"]
    assert len([*describe_files(files_of(pod), load_settings(given, {}))]) == 1


@pytest.mark.parametrize(
    "text", ["2026-01-31T12:00:00Z", "2026-01-31T12:00:00+00:00", "2026-01-31T13:00:00+01:00"]
)
def test_a_time_has_a_zone(text):
    assert AT.read(text) == datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("text", ["noon", "2026-01-31", "2026-01-31T12:00:00", "-1"])
def test_a_time_without_a_zone_is_refused(text):
    with pytest.raises(SettingsError, match="must be a time such as 2026-01-31T12:00:00Z"):
        AT.read(text)
