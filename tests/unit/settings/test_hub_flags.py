"""The flags of the hub, and which command takes which."""

from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from reporter.cli.configuration import load_configuration
from reporter.cli.hub_configuration import HUB_LEASE, USUAL_RESYNC, USUAL_SCRAPE, load_hub_settings
from reporter.settings import FLAGS, FlagGroup, SettingsError, TakenBy
from reporter.settings.flags import flag
from tests.support.settings import refusal, settings


CHART = Path(__file__).parents[3] / "helm" / "productionstack-status-reporter"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("https://prometheus.example.com/", "https://prometheus.example.com"),
        ("https://mimir:8443/prometheus/api/v1/query", "https://mimir:8443/prometheus"),
        ("http://127.0.0.1:9090", "http://127.0.0.1:9090"),
        ("http://[::1]:9090", "http://[::1]:9090"),
        ("http://localhost:9090", "http://localhost:9090"),
    ],
)
def test_the_url_is_that_of_the_engine(text, url):
    assert settings(f"--hub-query-url={text}").hub_query_url == url


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("http://prometheus.example.com", "must be https"),
        ("http://10.0.0.7", "must be https"),
        ("prometheus:9090", "must be a URL"),
        ("https://", "must be a URL"),
        ("https://a:b@host", "must be without a user"),
        ("https://host/?tenant=a", "must be without a query"),
        ("https://host:port", "must be a URL"),
    ],
)
def test_a_url_that_cannot_be_used_is_refused(text, why):
    assert why in refusal(f"--hub-query-url={text}")


@pytest.mark.parametrize("label", ["", "a-b", "__name__", 'a"b', "1a"])
def test_a_label_that_would_change_the_query_is_refused(label):
    assert "must be the name of a label of metrics" in refusal(f"--hub-cluster-label={label}")


@pytest.mark.parametrize("label", ["state", "version", "workload_namespace"])
def test_a_label_of_the_series_themselves_names_no_cluster(label):
    assert "is a label of the series themselves" in hub_refusal(
        URL, f"--hub-cluster-label={label}"
    )


def test_files_must_be_there():
    for name in ("token", "ca", "headers"):
        assert "no such file" in refusal(f"--hub-{name}-file=/nowhere/{name}")


def hub_refusal(*argv: str, **environ: str) -> str:
    with pytest.raises(SettingsError) as refused:
        load_hub_settings(argv, environ)
    return str(refused.value)


URL = "--hub-query-url=https://prometheus.example.com"


def test_the_hub_needs_a_url():
    assert "--hub-query-url: is needed: the metrics engine" in hub_refusal()


def test_one_lost_answer_is_no_silence():
    found = hub_refusal(URL, "--hub-stale-seconds=60", "--hub-interval-seconds=30")
    assert found.startswith("--hub-stale-seconds=60: must be 3 times --hub-interval-seconds=30")


@pytest.mark.parametrize(("stale", "advised"), [("119", True), ("120", False), ("300", False)])
def test_a_stale_time_that_is_too_short_for_usual_reporters_is_advised_against(stale, advised):
    found = load_hub_settings([URL, f"--hub-stale-seconds={stale}"], {})
    assert any("clusters that are well would be Silent" in each for each in found.notes) == advised


def test_the_usual_reporter_is_that_of_the_chart():
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    assert values["resyncSeconds"] == USUAL_RESYNC.total_seconds()
    template = (CHART / "templates" / "_names.tpl").read_text("utf-8")
    assert f"interval: {USUAL_SCRAPE.total_seconds():g}s\n" in template


def test_each_command_refuses_the_flags_of_the_other():
    assert "is a flag of the command run" in hub_refusal(URL, "--settle-seconds=1")
    assert "is a flag of the command run" in hub_refusal(URL, "--rollup-metrics=off")
    with pytest.raises(SettingsError, match="is a flag of the command hub"):
        load_configuration([URL], {})
    # A pod may have the variables of a hub, and kubectl exec starts another command in it.
    load_configuration([], {"STATUS_REPORTER_HUB_QUERY_URL": "https://a"})


def test_each_flag_of_settings_says_which_commands_take_it():
    assert [each.name for each in FLAGS if not each.taken_by] == []
    shared = {each.name for each in FLAGS if {TakenBy.RUN, TakenBy.HUB} <= each.taken_by}
    assert {"kubeconfig", "leader-election-id", "log-format"} <= shared
    assert not shared & {"packs", "catalogue-overlay", "rollup-metrics", "hub-query-url"}


def test_a_flag_cannot_be_declared_without_its_commands():
    with pytest.raises(TypeError, match="taken_by"):
        flag(FlagGroup.CLUSTER, "", str, "Another.")  # type: ignore[call-arg]


def test_the_hub_has_a_lease_of_its_own():
    assert load_hub_settings([URL], {}).leader_election_id == HUB_LEASE
    named = load_hub_settings([URL, "--leader-election-id=fleet"], {})
    assert named.leader_election_id == "fleet"
    assert named.hub_interval == timedelta(seconds=30)
