"""The files of docs/own-reasons.md are accepted; e2e follows the page on a real API server."""

import re
from pathlib import Path

import msgspec
import pytest
import yaml

from reporter.cel import limits
from reporter.cel.evaluation import STATES
from reporter.cel.library import compile_expression
from reporter.cel.parameters import CelParameters
from reporter.cel.preparation import MAX_REASONS
from reporter.cel.probe import PROBE
from reporter.cli.command_line import run_command
from reporter.controller.watched_kinds import kinds_to_watch
from tests.support.own_reasons import own_catalogue


PAGE = (Path(__file__).parents[3] / "docs" / "own-reasons.md").read_text("utf-8")
FILES = dict(re.findall(r"```yaml\n# ([a-z-]+\.yaml)\n(.*?)```", PAGE, re.DOTALL))


def test_the_overlay_is_accepted_and_its_rights_are_those_of_the_values():
    kinds = kinds_to_watch(own_catalogue(FILES["overlay.yaml"]))
    (declared,) = [kind for kind in kinds if kind.is_declared]
    (rule,) = yaml.safe_load(FILES["values.yaml"])["extraRules"]
    assert rule == {"apiGroups": [declared.group], "resources": [declared.resource]}
    crd = yaml.safe_load(FILES["crd.yaml"])
    assert crd["metadata"]["name"] == declared.group_resource


def test_the_story_passes_as_the_page_shows_it(tmp_path, capsys):
    for name in ("overlay.yaml", "story.yaml"):
        (tmp_path / name).write_text(FILES[name])
    overlay = f"--catalogue-overlay={tmp_path / 'overlay.yaml'}"
    assert "```sh\nproductionstack-status-reporter test story.yaml --catalogue-overlay=" in PAGE
    assert run_command(["test", str(tmp_path / "story.yaml"), overlay], {}) == 0
    assert capsys.readouterr().out == "1 passed\n"


SUPPRESSED = """\
why: The reason about the controller suppresses that about the objects whose conditions it writes.
of: [clusterKServeControllerNotReady]
given:
  change:
    InferenceService team-a/chat:
      status: { conditions: [{ type: Ready, status: "True", reason: Running, message: "" }] }
    KServeController kserve/kserve-controller-manager:
      metadata: { name: kserve-controller-manager, namespace: kserve }
      status: { availableReplicas: 1 }
story:
  - at: 1m
    change: { KServeController kserve/kserve-controller-manager: null }
  - at: 2m
    change:
      InferenceService team-a/chat:
        status: { conditions: [{ type: Ready, status: "False", reason: NotServing, message: "" }] }
until: 5m
announced:
  2m: >-
    Warning clusterKServeControllerNotReady Namespace/kserve: Deployment kserve/kserve-controller-manager was deleted. Platform: See
    kubectl describe deployment -n kserve kserve-controller-manager.
  2m30s: >-
    Warning clusterKServeControllerNotReady Namespace/kserve: Deployment kserve/kserve-controller-manager was deleted. Platform: See
    kubectl describe deployment -n kserve kserve-controller-manager. (suppressing downstream reasons:
    modelharnessInferenceServiceNotReady in 1 namespace(s))
"""


def test_the_example_of_what_a_reason_suppresses_does_so(tmp_path, capsys):
    (example,) = re.findall(r"## What it suppresses.*?```yaml\n(.*?)```", PAGE, re.DOTALL)
    both = [yaml.safe_load(FILES["overlay.yaml"]), yaml.safe_load(example)]
    overlay = {key: [each for one in both for each in one[key]] for key in ("kinds", "add")}
    (tmp_path / "overlay.yaml").write_text(yaml.safe_dump(overlay))
    (tmp_path / "story.yaml").write_text(SUPPRESSED)
    given = f"--catalogue-overlay={tmp_path / 'overlay.yaml'}"
    code = run_command(["test", str(tmp_path / "story.yaml"), given], {})
    assert (code, capsys.readouterr().out) == (0, "1 passed\n")


@pytest.mark.parametrize(
    "text",
    [
        "has(object.status.ready) && object.status.ready",
        "object.?status.?ready.orValue(false)",
        "double(object.spec.hard) * 0.9",
        'now - timestamp(object.status.seen) < duration("5m")',
    ],
)
def test_the_expressions_of_the_page_are_those_of_the_language(text):
    assert f"`{text}`" in PAGE
    assert compile_expression(text)


def test_every_parameter_field_state_and_limit_is_named():
    keys = {field.encode_name for field in msgspec.structs.fields(CelParameters)}
    assert all(f"| `{key}` |" in PAGE for key in keys)
    assert all(f"`{{{field}}}`" in PAGE for field in PROBE.spec.message_fields)
    plain = PAGE.replace("\n", " ")
    assert all(state in plain for state in STATES.values())
    for limit in (
        limits.MAX_TEXT_BYTES,
        limits.MAX_NODES,
        limits.MAX_GROWTH,
        limits.PATTERN_NODES,
        limits.MAX_CONTENT_VALUES,
        limits.MAX_CONTENT_LEVELS,
        MAX_REASONS,
    ):
        assert re.search(rf"\b{limit}\b", PAGE), limit
    assert f"| {limits.MAX_CONTENT_BYTES / 1024:g} KiB, " in PAGE
