"""The objects of a dump without secrets and environment values, and with all that a reason reads."""

import pytest

from devcluster.example.stack import manifests
from reporter.kube.object_redaction import LAST_APPLIED, without_secrets
from reporter.model.redact import REMOVED
from tests.unit.kube.test_dump import NOW, a_pod


def spec_of(**spec: object) -> dict:
    """Return the spec of a pod without secrets."""
    return without_secrets(a_pod(spec=spec))["spec"]


def test_the_values_of_environment_variables_go_and_their_names_and_sources_stay():
    source = {"name": "HF", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}
    env = [{"name": "MODEL", "value": "phi"}, source, {"name": "EMPTY"}]
    (container,) = spec_of(containers=[{"name": "vllm", "env": env}])["containers"]
    assert container["env"] == [{"name": "MODEL", "value": REMOVED}, source, {"name": "EMPTY"}]


@pytest.mark.parametrize("field", ["environmentVariables", "proxyMetadata", "env_vars", "env"])
def test_environment_variables_of_other_kinds_are_removed_as_well(field: str):
    assert spec_of(nested={field: {"A": "phi", "B": "qwen"}}) == {
        "nested": {field: {"A": REMOVED, "B": REMOVED}}
    }


def test_a_list_of_texts_as_an_environment_is_removed():
    assert spec_of(env=["A=phi"]) == {"env": [REMOVED]}


@pytest.mark.parametrize("field", ["runtimeEnvYAML", "userData"])
def test_a_text_with_variables_is_removed_as_a_whole(field: str):
    assert spec_of(**{field: "env_vars:\n  A: phi"}) == {field: REMOVED}


@pytest.mark.parametrize(
    ("spec", "kept"),
    [
        (
            {"args": ["--api-key", "phi", "--model", "phi"]},
            ["--api-key", REMOVED, "--model", "phi"],
        ),
        ({"args": ["--api-key=phi12", "--model=phi"]}, [f"--api-key={REMOVED}", "--model=phi"]),
        ({"args": ["--api-key", "--model"]}, ["--api-key", "--model"]),
        ({"clientSecret": "my own words"}, REMOVED),
        ({"clientSecret": ["a", "b"]}, ["a", "b"]),
        ({"secretName": "model-key"}, "model-key"),
        ({"url": "https://me:phi12@example.com/x"}, f"https://{REMOVED}@example.com/x"),
        (
            {
                "script": "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb"
            },
            f"a\n{REMOVED}\nb",
        ),
        ({"text": "-----BEGIN PRIVATE KEY-----\nMIIE"}, REMOVED),
        (
            {"headers": {"name": "Authorization", "value": "phi"}},
            {"name": "Authorization", "value": REMOVED},
        ),
        (
            {"headers": {"name": "x-model", "value": "phi"}},
            {"name": "x-model", "value": "phi"},
        ),
        ({"matchLabels": {"kaito.sh/api-key": "phi"}}, {"kaito.sh/api-key": "phi"}),
        ({"replicas": 3}, 3),
    ],
    ids=str,
)
def test_what_looks_like_a_secret_is_removed(spec: dict, kept: object):
    (value,) = spec_of(**spec).values()
    assert value == kept


def test_labels_and_annotations_keep_their_values_but_what_looks_like_a_secret():
    pod = a_pod()
    pod["metadata"] |= {
        "labels": {"kaito.sh/api-key-name": "default"},
        "annotations": {LAST_APPLIED: "phi", "scale": "3", "note": "token=abcdef"},
        "managedFields": [{"manager": "kubectl"}],
    }
    metadata = without_secrets(pod)["metadata"]
    assert metadata["labels"] == {"kaito.sh/api-key-name": "default"}
    assert metadata["annotations"] == {"scale": "3", "note": f"token={REMOVED}"}
    assert "managedFields" not in metadata


def test_a_secret_has_no_content():
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {}, "data": {"a": "cGhp"}}
    found = without_secrets({**secret, "stringData": {"b": "phi"}, "type": "Opaque"})
    assert (found["data"], found["stringData"]) == ({"a": REMOVED}, {"b": REMOVED})
    assert found["type"] == "Opaque"
    config = without_secrets({**secret, "kind": "ConfigMap", "data": {"a": "cGhp"}})
    assert config["data"] == {"a": "cGhp"}


def test_a_stack_without_secrets_stays_as_it_is():
    for each in manifests(NOW):
        assert without_secrets(each) == each


def test_metadata_of_another_form_changes_nothing_else():
    assert without_secrets({"kind": "Pod", "metadata": "none"}) == {
        "kind": "Pod",
        "metadata": "none",
    }
