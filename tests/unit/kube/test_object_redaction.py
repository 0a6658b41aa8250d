"""The objects of a dump without secrets and environment values, and with all that a reason reads."""

import json

import msgspec
import pytest
import yaml

from devcluster.example.stack import manifests
from reporter.kinds.istio import MeshConfigMap
from reporter.kube.object_redaction import LAST_APPLIED, without_secrets, without_secrets_in
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


@pytest.mark.parametrize("field", ["runtimeEnvYAML", "serveConfigV2", "userData"])
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
        (
            {"args": ["--api-key", "phi", "qwen", "--model", "phi", "qwen"]},
            ["--api-key", REMOVED, REMOVED, "--model", "phi", "qwen"],
        ),
        (
            {"command": ["sh", "-c", "vllm serve m --api-key abc123 --port 80"]},
            ["sh", "-c", f"vllm serve m --api-key {REMOVED} --port 80"],
        ),
        (
            {"script": "serve --api-key \\\n  'my key' k2 | tee log; echo --model phi"},
            f"serve --api-key \\\n  {REMOVED} | tee log; echo --model phi",
        ),
        ({"script": "serve --api-key"}, "serve --api-key"),
        (
            {"script": "bash -c 'serve --api-key abc12' -v"},
            f"bash -c 'serve --api-key {REMOVED}' -v",
        ),
        (
            {"script": 'bash -c "serve --api-key \\"abc 12\\" --port 80"'},
            f'bash -c "serve --api-key {REMOVED} --port 80"',
        ),
        ({"script": "serve --api-key 'abc 12"}, f"serve --api-key {REMOVED}"),
        ({"apiKeys": ["abc12", "def34"]}, [REMOVED, REMOVED]),
        ({"apiKeys": [{"name": "a", "value": "abc12"}]}, [{"name": "a", "value": REMOVED}]),
        ({"password": {"value": "hunter2"}}, {"value": REMOVED}),
        ({"password": {"valueFrom": {"key": "hunter2"}}}, {"valueFrom": {"key": "hunter2"}}),
        ({"password": 12345}, REMOVED),
        ({"automountServiceAccountToken": True}, True),
        ({"volume": {"secret": {"secretName": "model"}}}, {"secret": {"secretName": "model"}}),
        ({"imagePullSecrets": [{"name": "model"}]}, [{"name": "model"}]),
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
        (
            {"headers": [{"header": {"key": "x-api-key", "value": "phi"}}]},
            [{"header": {"key": "x-api-key", "value": REMOVED}}],
        ),
        (
            {"selector": {"matchLabels": {"kaito.sh/api-key": "phi"}}},
            {"matchLabels": {"kaito.sh/api-key": "phi"}},
        ),
        (
            {"text": '{"env": [{"name": "A", "value": "phi"}]}'},
            f'{{"env":[{{"name":"A","value":"{REMOVED}"}}]}}',
        ),
        ({"text": '{"args": ["--model", "phi-token"]}'}, '{"args": ["--model", "phi-token"]}'),
        ({"text": "a:\n- env:\n    A: phi\n"}, f"a:\n- env:\n    A: '{REMOVED}'\n"),
        ({"text": "env: &a\n  A: phi\nb: *a"}, REMOVED),
        ({"text": "env:\n  A: phi\nb: !!bool maybe\nc: !!timestamp never"}, REMOVED),
        ({"text": "cat <<EOF\nenv:\n  A: phi\n}"}, REMOVED),
        ({"message": "env: python: No such file"}, "env: python: No such file"),
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
        "annotations": {
            LAST_APPLIED: "phi",
            "objectset.rio.cattle.io/applied": "H4sI",
            "kapp.k14s.io/original": "{}",
            "example.com/api-token": "abcdef",
            "example.com/copy": json.dumps({"spec": {"env": [{"name": "A", "value": "phi"}]}}),
            "scale": "3",
            "note": "token=abcdef",
        },
        "managedFields": [{"manager": "kubectl"}],
    }
    metadata = without_secrets(pod)["metadata"]
    assert metadata["labels"] == {"kaito.sh/api-key-name": "default"}
    copy = {"spec": {"env": [{"name": "A", "value": REMOVED}]}}
    assert json.loads(metadata["annotations"].pop("example.com/copy")) == copy
    assert metadata["annotations"] == {
        "example.com/api-token": REMOVED,
        "scale": "3",
        "note": f"token={REMOVED}",
    }
    assert "managedFields" not in metadata


def test_a_secret_has_no_content():
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {}, "data": {"a": "cGhp"}}
    found = without_secrets({**secret, "stringData": {"b": "phi"}, "type": "Opaque"})
    assert (found["data"], found["stringData"]) == ({"a": REMOVED}, {"b": REMOVED})
    assert found["type"] == "Opaque"
    config = without_secrets({**secret, "kind": "ConfigMap", "data": {"a": "cGhp"}})
    assert config["data"] == {"a": "cGhp"}


def test_the_mesh_config_of_istio_stays_readable_without_its_variables():
    mesh = {
        "defaultConfig": {"proxyMetadata": {"A": "phi"}},
        "extensionProviders": [{"name": "llm-auth", "envoyExtAuthzGrpc": {"port": 9000}}],
    }
    config = {
        "kind": "ConfigMap",
        "metadata": {"name": "istio"},
        "data": {"mesh": yaml.dump(mesh)},
    }
    found = without_secrets(config)
    mesh["defaultConfig"] = {"proxyMetadata": {"A": REMOVED}}
    assert yaml.safe_load(found["data"]["mesh"]) == mesh
    assert msgspec.convert(found, MeshConfigMap).providers == ("llm-auth",)


@pytest.mark.parametrize(
    "text",
    [
        "vllm serve m --api-key abc123",
        '{"env": {"A": "phi"}, "args": ["--api-key", "abc123"]}',
        "env:\n  A: phi\n",
        "password: hunter2",
    ],
)
def test_what_was_removed_once_stays_as_it_is(text: str):
    once = without_secrets_in(text)
    assert once != text
    assert without_secrets_in(once) == once


def test_a_stack_without_secrets_stays_as_it_is():
    for each in manifests(NOW):
        assert without_secrets(each) == each


def test_metadata_of_another_form_changes_nothing_else():
    assert without_secrets({"kind": "Pod", "metadata": "none"}) == {
        "kind": "Pod",
        "metadata": "none",
    }
