"""Silences as values of the chart: an entry is read by the process as it was written."""

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.chart import CHART
from e2e.chart.helm import Helm, HelmFailed
from e2e.chart.rendering.objects import arguments_of, object_of
from reporter.catalogue.silence_file import read_silence_file
from reporter.evaluation.silencing import parse_until


pytestmark = pytest.mark.controlplane

Json = dict[str, Any]
NAME = "stack-status-reporter-silences"
FLAG = "--silence-file=/etc/status-reporter-silences/silences.yaml"
ENTRIES = """\
silences:
  - {namespace: team-a, reasons: [all], until: 2099-12-01, why: "yes", by: "1"}
  - namespace: team-a
    inferenceset: qwen
    reasons: [inferencesetModelPodsNotReady, inferencesetRouteNotReady]
    until: 2099-12-01T00:00:00+02:00
    why: |
      the weights: move
      - to another store {{ .Values }} "é"
  - {reasons: [clusterKedaNotReady], until: "20991201T000000Z"}
"""


def _pod(objects: list[Json]) -> Json:
    found: Json = object_of(objects, "Deployment")["spec"]["template"]["spec"]
    return found


def test_entries_are_read_as_they_were_written(helm: Helm, tmp_path: Path) -> None:
    values, file = tmp_path / "values.yaml", tmp_path / "silences.yaml"
    values.write_text(ENTRIES, "utf-8")
    objects = helm.render(CHART, f"--values={values}")
    file.write_text(object_of(objects, "ConfigMap", NAME)["data"][file.name], "utf-8")
    found = read_silence_file(file)
    assert found.problem == ""
    assert [each.problem for each in found.silences] == ["", "", ""]
    first, second, third = found.silences
    assert (first.namespace, first.reasons, first.why, first.by) == (
        "team-a",
        ("all",),
        "yes",
        "1",
    )
    assert (second.inferenceset, len(second.reasons)) == ("qwen", 2)
    assert second.why.splitlines()[1] == '- to another store {{ .Values }} "é"'
    assert third.namespace == ""
    days = [parse_until(each.until) for each in found.silences]
    assert [day and f"{day:%Y-%m-%dT%H}" for day in days] == [
        "2099-12-01T00",
        "2099-11-30T22",
        "2099-12-01T00",
    ]
    assert FLAG in arguments_of(objects)
    (volume,) = _pod(objects)["volumes"]
    assert volume["configMap"] == {"name": NAME, "optional": True}


def test_a_config_map_of_ones_own_is_mounted_before_it_exists(helm: Helm) -> None:
    objects = helm.render(CHART, "--set=silences=mine")
    assert FLAG in arguments_of(objects)
    (volume,) = _pod(objects)["volumes"]
    assert volume["configMap"] == {"name": "mine", "optional": True}
    (mount,) = _pod(objects)["containers"][0]["volumeMounts"]
    assert (mount["name"], mount["mountPath"]) == (volume["name"], str(Path(FLAG[15:]).parent))
    assert all(each["kind"] != "ConfigMap" for each in objects)


def test_without_either_the_one_that_the_command_creates_is_mounted_before_it_exists(
    helm: Helm,
) -> None:
    objects = helm.render(CHART)
    assert FLAG in arguments_of(objects)
    (volume,) = _pod(objects)["volumes"]
    # Helm adopts no object that it has not made, so it never renders one of this name.
    name = "stack-status-reporter-applied-silences"
    assert volume["configMap"] == {"name": name, "optional": True}
    assert name != NAME
    assert all(each["kind"] != "ConfigMap" for each in objects)


ENTRY: Json = {"namespace": "team-a", "reasons": ["all"], "until": "2099-12-01"}


@pytest.mark.parametrize(
    ("entry", "named"),
    [
        ({**ENTRY, "until": None}, "until"),
        ({**ENTRY, "until": 2099}, "until"),
        ({**ENTRY, "reasons": "all"}, "reasons"),
        ({**ENTRY, "reasons": []}, "reasons"),
        ({**ENTRY, "namespce": "team-b"}, "namespce"),
    ],
    ids=["no end", "a number", "no list", "no reason", "a typing error"],
)
def test_an_entry_that_would_silence_nothing_is_refused(
    helm: Helm, entry: Json, named: str
) -> None:
    with pytest.raises(HelmFailed, match=named):
        helm.render(CHART, f"--set-json=silences={json.dumps([entry])}")
