"""The example of docs/check-jobs.md: the scripts against a model's Gateway, and the manifests."""

import msgspec
import pytest

from reporter.kinds.batch import Job
from reporter.probes.jobs import read_settings
from tests.support.check_examples import SCRIPTS, manifests, read_result, run_script
from tests.support.ports import free_port
from tests.support.stubs.chat_server import chat_server


MAX_WAIT_SECONDS = 300
"""The default of MAX_WAIT_TIME_SECONDS of job-status."""

MAX_MESSAGE_BYTES, MAX_REASON_BYTES = 1024, 128
"""The longest texts that job-status takes from a result without shortening them."""

BOTH = pytest.mark.parametrize("script", SCRIPTS)


@BOTH
def test_a_model_that_answers_is_a_success(script, tmp_path):
    with chat_server() as server:
        done = run_script(script, tmp_path, server.url, API_KEY="sk-0123")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert read_result(tmp_path) == {
        "status": "success",
        "reason": "Answered",
        "message": "the model answered",
    }
    ((question, headers),) = server.requests
    assert question["model"] == "qwen"
    assert question["messages"][0]["role"] == "user"
    assert headers["Authorization"] == "Bearer sk-0123"
    assert headers["Content-Type"] == "application/json"


@BOTH
def test_without_a_key_none_is_sent(script, tmp_path):
    with chat_server() as server:
        run_script(script, tmp_path, server.url)
    ((_, headers),) = server.requests
    assert "Authorization" not in headers


HOSTILE = 'no "healthy" upstream\\ \x1b[31m\n\x00é'.encode() + b"\xff" + b"x" * 5000
ANSWERS = {
    "an error": ({"status": 503, "body": b"no healthy upstream"}, "NoAnswer"),
    "a refused key": ({"status": 401, "body": b""}, "NoAnswer"),
    "an error with a hostile text": ({"status": 500, "body": HOSTILE}, "NoAnswer"),
    "no text": ({"body": b'{"choices": [{"message": {"content": ""}}]}'}, "EmptyAnswer"),
    "a text of null": ({"body": b'{"choices": [{"message": {"content": null}}]}'}, "EmptyAnswer"),
    "no choice": ({"body": b'{"choices": []}'}, "EmptyAnswer"),
    "no JSON": ({"body": HOSTILE}, "EmptyAnswer"),
    "nothing": ({"body": b""}, "EmptyAnswer"),
    "a closed connection": ({"breaks": True}, "NotReachable"),
}


@BOTH
@pytest.mark.parametrize(("answer", "reason"), ANSWERS.values(), ids=ANSWERS)
def test_a_model_that_does_not_answer_is_a_failure_with_exit_code_0(
    script, answer, reason, tmp_path
):
    with chat_server(**answer) as server:
        done = run_script(script, tmp_path, server.url)
    assert done.returncode == 0, done.stderr
    result = read_result(tmp_path)
    assert (result["status"], result["reason"]) == ("failure", reason)
    assert 0 < len(result["message"].encode()) <= MAX_MESSAGE_BYTES
    assert len(result["reason"].encode()) <= MAX_REASON_BYTES


@BOTH
def test_the_message_names_what_the_gateway_answered(script, tmp_path):
    with chat_server(status=503, body=b"no healthy upstream") as server:
        run_script(script, tmp_path, server.url)
    assert read_result(tmp_path)["message"] == "the Gateway answered 503: no healthy upstream"


@BOTH
def test_a_gateway_that_is_not_there_is_a_failure(script, tmp_path):
    done = run_script(script, tmp_path, f"http://127.0.0.1:{free_port()}")
    assert done.returncode == 0, done.stderr
    result = read_result(tmp_path)
    assert (result["status"], result["reason"]) == ("failure", "NotReachable")
    assert "refused" in result["message"].lower() or "connect" in result["message"].lower()


@BOTH
def test_a_result_is_replaced(script, tmp_path):
    with chat_server(status=500) as server:
        run_script(script, tmp_path, server.url)
        server.status = 200
        run_script(script, tmp_path, server.url)
    assert read_result(tmp_path)["status"] == "success"


@BOTH
@pytest.mark.parametrize("missing", ["MODEL", "MODEL_URL"])
def test_without_a_setting_it_ends_with_an_error_that_names_it(script, missing, tmp_path):
    done = run_script(script, tmp_path, "http://127.0.0.1:1", **{missing: None})
    assert done.returncode != 0
    assert missing in done.stderr
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- the manifests


CRON_JOB, ACCOUNT, ROLE, BINDING = manifests()
TEMPLATE = CRON_JOB["spec"]["jobTemplate"]
POD = TEMPLATE["spec"]["template"]


def test_the_example_jobs_are_check_jobs_of_a_set_with_valid_annotations():
    metadata = {**TEMPLATE["metadata"], "name": "smoke-1", "namespace": "team-a"}
    job = msgspec.convert({"metadata": metadata}, Job)
    assert (job.check, job.inference_set) == ("smoke", "qwen")
    settings = read_settings(job)
    assert isinstance(settings, tuple)
    assert settings.condition_type == "Available"
    assert settings.max_age.total_seconds() > 2 * 600, "more than two periods"


def test_the_pods_of_the_example_jobs_are_none_of_the_model():
    assert not POD.get("metadata", {}).get("labels")


def test_the_job_outlives_the_wait_for_a_result():
    assert TEMPLATE["spec"]["activeDeadlineSeconds"] > MAX_WAIT_SECONDS
    assert TEMPLATE["spec"]["backoffLimit"] == 0
    assert POD["spec"]["restartPolicy"] == "Never"
    assert CRON_JOB["spec"]["successfulJobsHistoryLimit"] >= 1


def test_both_containers_share_the_folder_of_the_result_and_only_the_check_writes():
    check, sidecar = POD["spec"]["containers"]
    mounts = {
        each["name"]: {m["name"]: m.get("readOnly", False) for m in each["volumeMounts"]}
        for each in (check, sidecar)
    }
    assert mounts["smoke"]["results"] is False
    assert mounts["status-reporter"]["results"] is True
    assert sidecar["args"] == ["job-status"]
    assert {each["name"] for each in sidecar["env"]} == {"JOB_NAME", "JOB_NAMESPACE", "POD_NAME"}


def test_the_role_grants_what_the_sidecar_needs_and_no_more():
    granted = {
        (group, resource, verb)
        for rule in ROLE["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert granted == {
        ("batch", "jobs", "get"),
        ("batch", "jobs/status", "patch"),
        ("", "pods", "get"),
    }
    assert BINDING["roleRef"]["name"] == ROLE["metadata"]["name"]
    assert [each["name"] for each in BINDING["subjects"]] == [ACCOUNT["metadata"]["name"]]
    assert POD["spec"]["serviceAccountName"] == ACCOUNT["metadata"]["name"]
