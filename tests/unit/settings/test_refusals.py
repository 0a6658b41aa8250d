"""The error texts of refused flags and environment variables."""

import pytest

from tests.support.settings import refusal


def test_a_value_may_hold_an_equals_sign():
    assert "--kubeconfig=a=b: no such file" in refusal("--kubeconfig=a=b")


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["--resync-seconds=0"], "--resync-seconds=0: must be a whole number of seconds, 1 to"),
        (["--resync-seconds=1.5"], "--resync-seconds=1.5: must be a whole number"),
        (["--resync-seconds=" + "9" * 40], "must be a whole number of seconds"),
        (["--startup-grace-seconds=-1"], "--startup-grace-seconds=-1: must be a whole number"),
        (["--heartbeat-seconds=9"], "--heartbeat-seconds=9: must be a whole number"),
        (["--retry-period-seconds=0"], "--retry-period-seconds=0: must be a number of seconds"),
        (["--weight-download-min-mbps=-1"], "--weight-download-min-mbps=-1: must be a number"),
        (["--weight-download-min-mbps=fast"], "must be a number, 0 to 1000000000000"),
        (["--weight-download-min-mbps=nan"], "must be a number, 0 to 1000000000000"),
        (["--weight-download-min-mbps=1e13"], "must be a number, 0 to 1000000000000"),
        (["--weight-download-metric-port=65536"], "must be a whole number, 0 to 65535"),
        (["--leader-elect=yes"], "--leader-elect=yes: must be true or false"),
        (["--leader-elect", "false"], "write a boolean as --flag=false"),
        (["--metrics-bind-address=8080"], "must be an address such as :8080"),
        (["--metrics-bind-address=:99999"], "must be an address such as :8080"),
        (["--metrics-bind-address=::1:8080"], "must be an address such as :8080"),
        (
            ["--metrics-bind-address=:8081"],
            "--health-probe-bind-address=:8081: is that of --metrics-bind-address as well",
        ),
        (["--kaito-namespace=Kaito_System"], "must be the name of a namespace"),
        (["--kaito-namespace=" + "a" * 64], "must be the name of a namespace"),
        (["--bbr-deployment=body_based"], "must be the name of an object"),
        (["--leader-election-id="], "--leader-election-id=: must be the name of an object"),
        (["--emission=some"], "--emission=some: must be one of primary, all"),
        (["--sources=keda,karpenta"], "must be a list, separated by commas, of keda, karpenter"),
        (["--status-objects=some"], "--status-objects=some: must be true or false"),
        (["--package-label=a b"], "must be the name of a label, such as example.com/package"),
        (["--package-label=/package"], "must be the name of a label"),
        (["--package-label=Example.com/package"], "must be the name of a label"),
        (["--revision-label=example.com/"], "must be the name of a label"),
        (["--revision-label=" + "a" * 64], "must be the name of a label"),
        (["--store=both"], "must be one of none, healthevents, nvsentinel"),
        (["--store=healthevents,nvsentinel"], "must be one of none, healthevents, nvsentinel"),
        (["--store-resource=nodes"], "must be healtheventresources or healthevents, a dot"),
        (["--store-resource=healthevents.example"], "the API group of NVSentinel"),
        (["--store-resource=healthevents.Example.com"], "must be the name of an object"),
        (
            ["--store-resource=healthevents.reporter.productionstack.kaito.sh"],
            "the API group of NVSentinel",
        ),
        (["--scrape-mode=both"], "must be one of auto, direct, proxy"),
        (["--log-format=xml"], "must be one of text, json"),
        (["--zap-log-level=0"], "--zap-log-level=0: must be one of debug, info, error, panic"),
        (["--zap-encoder=xml"], "must be one of json, console"),
        (["--zap-time-encoding=sundial"], "must be one of epoch"),
        (["--catalogue-overlay=/nonexistent"], "--catalogue-overlay=/nonexistent: no such file"),
        (["--resync-second=3"], "there is no such flag; did you mean --resync-seconds?"),
        (["--frobnicate"], "--frobnicate: there is no such flag; --help lists all"),
        (["--resync-seconds"], "--resync-seconds: needs a value"),
        (["resync"], "unexpected argument 'resync'; flags begin with --"),
        (["---resync-seconds=3"], "unexpected argument '---resync-seconds=3'"),
        (["--"], "unexpected argument '--'"),
        (["--=3"], "unexpected argument '--=3'"),
        (
            ["--renew-deadline-seconds=15"],
            "--lease-duration-seconds=15: must be longer than --renew-deadline-seconds=15",
        ),
        (
            ["--retry-period-seconds=9"],
            "--renew-deadline-seconds=10: must be longer than 1.2 times --retry-period-seconds=9",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value)[:60],
)
def test_a_bad_value_is_refused_by_its_flag_with_what_to_do(argv, expected):
    assert expected in refusal(*argv)


def test_a_bad_variable_is_refused_by_its_name():
    assert refusal(STATUS_REPORTER_RESYNC_SECONDS="x").startswith(
        "STATUS_REPORTER_RESYNC_SECONDS=x: must be a whole number of seconds"
    )
    assert refusal(POD_NAMESPACE="No").startswith("POD_NAMESPACE=No: must be the name of a")
    assert refusal(DEPLOYMENT_NAME="No!").startswith("DEPLOYMENT_NAME=No!: must be the name of")
