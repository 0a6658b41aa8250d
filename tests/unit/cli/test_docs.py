"""The command docs."""

from pathlib import Path

import pytest

from docs.generators.reasons import PACKS
from reporter.cli.command_line import run_command


ROOT = Path(__file__).parents[3]


def run(*argv: str) -> int:
    return run_command([str(each) for each in argv], {})


def test_docs_of_all_packs_are_those_of_the_repository(capsys: pytest.CaptureFixture[str]):
    assert run("docs", f"--packs={','.join(PACKS)}") == 0
    assert capsys.readouterr().out == (ROOT / "docs" / "reasons.md").read_text("utf-8")


def test_docs_are_of_the_packs_that_are_named(capsys: pytest.CaptureFixture[str]):
    assert run("docs") == 0
    kaito = capsys.readouterr().out
    assert "\n## Layer modeldeployment: one InferenceSet\n" in kaito
    assert "inferenceservicePredictorNotReady" not in kaito
    assert run("docs", "--packs=kserve") == 0
    kserve = capsys.readouterr().out
    assert "\n### inferenceservicePredictorNotReady\n" in kserve
    assert "- `kind`: `InferenceService`\n- `current`: `" in kserve
    assert "clusterKaitoControllerNotReady" not in kserve
    assert run("docs", "--packs=kaito,kserve") == 0
    both = capsys.readouterr().out
    headings = [line for line in both.splitlines() if line.startswith("## ")]
    assert headings == [
        "## Pack kaito, layer cluster: the control plane of the stack",
        "## Pack kaito, layer modelharness: the Gateway of one workload namespace and its filters",
        "## Pack kaito, layer modeldeployment: one InferenceSet",
        "## Pack kserve, layer cluster: the control plane of the stack",
        "## Pack kserve, layer modeldeployment: one InferenceService or one LLMInferenceService",
        "## Beside the packs, layer cluster: the control plane of the stack",
    ]


def test_docs_of_an_overlay_have_its_reasons(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(
        "add:\n"
        "  - { reason: clusterDashboardNotReady, layer: cluster, type: Warning, owner: user,\n"
        "      rank: 90, probe: deployments, message: '{object} {state}{pods}.',\n"
        "      parameters: { components: [{ name: dashboard, namespace-flag: kaito-namespace }] },\n"
        "      remedy: { default: Restart it. } }\n"
    )
    code = run("docs", f"--catalogue-overlay={overlay}")
    shown = capsys.readouterr()
    assert (code, shown.err) == (0, "")
    assert "### clusterDashboardNotReady" in shown.out
    assert "- Message: `{object} {state}{pods}.`" in shown.out
    assert "- any other: Restart it." in shown.out


def test_docs_leave_out_the_suppressions_that_an_overlay_switches_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(
        "reasons:\n"
        "  clusterKaitoControllerNotReady: { does-not-suppress: [inferencesetModelPodsNotReady] }\n"
        "  clusterCRDMissing: { does-not-suppress: [crd-of] }\n"
    )
    suppresses = "- Suppresses [inferencesetModelPodsNotReady](#inferencesetmodelpodsnotready)"
    suppressed = (
        "- Suppressed by [clusterKaitoControllerNotReady](#clusterkaitocontrollernotready)."
    )
    missing = "- Suppresses every reason whose probe needs the missing CRD"
    assert run("docs") == 0
    before = capsys.readouterr().out
    assert run("docs", f"--catalogue-overlay={overlay}") == 0
    after = capsys.readouterr().out
    controller = "### clusterKaitoControllerNotReady"
    assert suppresses in before.partition(controller)[2].partition("\n### ")[0]
    assert suppresses not in after.partition(controller)[2].partition("\n### ")[0]
    model = "### inferencesetModelPodsNotReady"
    assert suppressed in before.partition(model)[2].partition("\n### ")[0]
    assert suppressed not in after.partition(model)[2].partition("\n### ")[0]
    assert missing in before
    assert missing not in after


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        pytest.param(
            ("object.spec.a", "", "  >= 'x  y'"),
            "- `current`: `object.spec.a >= 'x  y'`\n",
            id="on one line",
        ),
        pytest.param(
            ("true // why", "", "  && true"),
            "- `current`:\n\n  ```\n  true // why\n\n    && true\n  ```\n",
            id="a comment ends with its line",
        ),
        pytest.param(
            ("object.spec.a != '''b", "  c'''"),
            "- `current`:\n\n  ```\n  object.spec.a != '''b\n    c'''\n  ```\n",
            id="a text of several lines",
        ),
        pytest.param(
            ("object.`spec`.a == 1",),
            "- `current`:\n\n  ```\n  object.`spec`.a == 1\n  ```\n",
            id="backticks",
        ),
    ],
)
def test_docs_show_an_expression_of_several_lines_as_code(
    lines: tuple[str, ...], shown: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text(
        "reasons:\n  inferenceservicePredictorNotReady:\n    parameters:\n      current: |\n"
        + "".join(f"        {line}\n" for line in lines)
    )
    assert run("docs", "--packs=kserve", f"--catalogue-overlay={overlay}") == 0
    assert shown in capsys.readouterr().out
