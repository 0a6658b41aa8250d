"""The workflows run what is pinned, and have no more permissions than they need."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

import reporter


ROOT = Path(__file__).parents[3]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yaml"))
PINNED = re.compile(r"uses: (\./\S+|[\w./-]+@[0-9a-f]{40} # v\d+(\.\d+)*)$")
BASE = re.compile(r"^ARG BASE=python:3\.13-slim-trixie@sha256:[0-9a-f]{64}$")


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_every_action_is_pinned_by_its_commit_and_names_its_version(workflow: Path):
    uses = [line.strip(" -") for line in workflow.read_text().splitlines() if "uses:" in line]
    assert uses
    assert [line for line in uses if not PINNED.match(line)] == []


def test_one_commit_has_one_version_everywhere():
    text = "\n".join(path.read_text() for path in WORKFLOWS)
    pins = set(re.findall(r"uses: ([\w./-]+)@([0-9a-f]{40}) # (v\S+)", text))
    assert len(pins) == len({name for name, _, _ in pins})


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_only_read_unless_a_job_says_otherwise(workflow: Path):
    content = yaml.safe_load(workflow.read_text())
    assert content["permissions"] in ({}, {"contents": "read"})
    for name, job in content["jobs"].items():
        writes = {key for key, value in job.get("permissions", {}).items() if value == "write"}
        allowed = {"release": writes, "rebuild": {"actions"}}.get(workflow.stem, set())
        assert writes <= allowed, name


def test_a_release_is_tested_first_and_signs_what_it_pushes():
    content = yaml.safe_load((ROOT / ".github/workflows/release.yaml").read_text())
    jobs = content["jobs"]
    assert jobs["test"]["uses"] == "./.github/workflows/test.yaml"
    assert jobs["scan"]["uses"] == "./.github/workflows/scan.yaml"
    assert (jobs["image"]["needs"], jobs["chart"]["needs"]) == (["test", "scan"], "image")
    assert all("!failure() && !cancelled()" in jobs[job]["if"] for job in ("image", "chart"))
    (build,) = (step for step in jobs["image"]["steps"] if step.get("id") == "build")
    assert build["with"]["platforms"] == "linux/amd64,linux/arm64"
    assert (build["with"]["provenance"], build["with"]["sbom"]) == ("mode=max", True)
    attested = {}
    for job in ("image", "chart"):
        runs = "\n".join(step.get("run", "") for step in jobs[job]["steps"])
        assert "cosign sign --yes" in runs
        assert "${{" not in runs, "texts are given as variables"
        (attested[job],) = (
            step["with"]
            for step in jobs[job]["steps"]
            if step.get("uses", "").startswith("actions/attest-build-provenance@")
        )
    assert attested["image"]["subject-digest"] == "${{ steps.build.outputs.digest }}"
    assert attested["image"]["push-to-registry"] is True
    assert attested["chart"] == {"subject-path": "dist/*.tgz"}


def test_each_job_of_a_release_finds_its_names_by_itself():
    """
    GitHub leaves out an output of a job that contains a secret, such as the user of the registry in its name.
    """
    content = yaml.safe_load((ROOT / ".github/workflows/release.yaml").read_text())
    jobs = content["jobs"]
    assert not any("outputs" in job for job in jobs.values())
    (image,), (chart,) = (
        [step for step in jobs[job]["steps"] if step.get("id") == "names"]
        for job in ("image", "chart")
    )
    assert image == chart
    for step in jobs["chart"]["steps"]:
        for name in re.findall(r"\$(REGISTRY|VERSION)\b", step.get("run", "")):
            found = f"${{{{ steps.names.outputs.{name.lower()} }}}}"
            assert step["env"][name] == found, step.get("name")


def test_a_release_has_the_notes_and_all_that_is_installed_and_the_sbom():
    content = yaml.safe_load((ROOT / ".github/workflows/release.yaml").read_text())
    steps = {step.get("name"): step.get("run", "") for step in content["jobs"]["chart"]["steps"]}
    run = steps["Release with the section of the changelog"]
    assert "make --silent release-notes > notes.md" in run
    _, _, files = run.replace("\\\n", "").partition("--notes-file notes.md ")
    plugin = ["dist/productionstack-status.tar.gz", "dist/productionstack-status.yaml"]
    assert files.split() == ["dist/*.tgz", "dist/*.whl", *plugin, "sbom-*.spdx.json"]


def test_two_builds_of_a_release_are_one_image_and_its_time_is_that_of_the_commit():
    content = yaml.safe_load((ROOT / ".github/workflows/release.yaml").read_text())
    (build,) = (step for step in content["jobs"]["image"]["steps"] if step.get("id") == "build")
    arguments = build["with"]["build-args"].splitlines()
    assert "SOURCE_DATE_EPOCH=${{ steps.build-tag.outputs.epoch }}" in arguments
    assert build["with"]["outputs"] == "type=image,push=true,rewrite-timestamp=true"


def test_a_released_image_is_built_again_at_its_tag_with_the_newest_base_and_nothing_else():
    release = yaml.safe_load((ROOT / ".github/workflows/release.yaml").read_text())
    assert set(release[True]["workflow_dispatch"]["inputs"]) == {"base-digest"}
    jobs = release["jobs"]
    assert jobs["test"]["with"] == {"base-digest": "${{ inputs.base-digest }}"}
    assert "github.event_name == 'push'" in jobs["chart"]["if"]
    tested = yaml.safe_load((ROOT / ".github/workflows/test.yaml").read_text())["jobs"]["image"]
    for steps, later in ((jobs["image"]["steps"], "uses"), (tested["steps"], "run")):
        (number,) = (n for n, step in enumerate(steps) if step.get("run") == "make base-digest")
        assert steps[number]["env"] == {"DIGEST": "${{ inputs.base-digest }}"}
        used = "docker/build-push-action" if later == "uses" else "make test-image"
        assert any(used in step.get(later, "") for step in steps[number:])
    rebuild = yaml.safe_load((ROOT / ".github/workflows/rebuild.yaml").read_text())
    assert rebuild[True]["schedule"]
    assert (
        'gh workflow run release.yaml --ref "$tag"'
        in rebuild["jobs"]["rebuild"]["steps"][-1]["run"]
    )


@pytest.mark.parametrize(
    ("digest", "code"), [("0123456789abcdef" * 4, 0), ("0", 2), ("|e id #", 2)]
)
def test_another_digest_of_the_base_is_written_if_it_is_one(
    tmp_path: Path, digest: str, code: int
):
    shutil.copy(ROOT / "Dockerfile", tmp_path)
    done = subprocess.run(
        ["make", "--silent", "-f", ROOT / "Makefile", "base-digest"],
        cwd=tmp_path,
        env={**os.environ, "DIGEST": f"sha256:{digest}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == code, done.stderr
    before = (ROOT / "Dockerfile").read_text().splitlines()
    after = (tmp_path / "Dockerfile").read_text().splitlines()
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert changed == ([f"ARG BASE=python:3.13-slim-trixie@sha256:{digest}"] if code == 0 else [])


def test_the_image_is_scanned_each_week_before_each_release_and_when_it_changes():
    content = yaml.safe_load((ROOT / ".github/workflows/scan.yaml").read_text())
    assert content[True]["schedule"]
    assert "workflow_call" in content[True]
    assert {"Dockerfile", "requirements*.lock"} <= set(content[True]["pull_request"]["paths"])
    runs = [step.get("run", "") for step in content["jobs"]["scan"]["steps"]]
    assert [run for run in runs if re.fullmatch(r"go install \S+/grype@v[\d.]+", run)]
    assert [run for run in runs if run.startswith("make image scan ")]
    makefile = (ROOT / "Makefile").read_text()
    assert re.search(r"^SCAN_FLAGS \?= --only-fixed --fail-on=high$", makefile, re.MULTILINE)


def test_notes_of_a_release_are_its_section_of_the_changelog(tmp_path: Path):
    (tmp_path / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n### Added\n\n- That.\n\n"
        "## [0.1.0]\n\n- This.\n"
    )
    done = subprocess.run(
        ["make", "--silent", "-f", ROOT / "Makefile", "release-notes", "VERSION=0.2.0"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == ["###", "Added", "-", "That."]


def test_the_version_of_the_program_can_be_released():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    done = subprocess.run(
        ["make", "--silent", "release-check", f"TAG=v{version}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_notes_of_a_version_without_a_section_are_refused(tmp_path: Path):
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## [0.2.0]\n\n## [0.1.0]\n\n- This.\n")
    done = subprocess.run(
        ["make", "--silent", "-f", ROOT / "Makefile", "release-notes", "VERSION=0.2.0"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode != 0
    assert "CHANGELOG.md has nothing about [0.2.0]" in done.stderr


def test_program_chart_and_changelog_have_one_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = project["version"]
    assert (project["name"], version) == (reporter.PROGRAM_NAME, reporter.PROGRAM_VERSION)
    chart = yaml.safe_load((ROOT / "helm" / project["name"] / "Chart.yaml").read_text())
    assert chart["appVersion"] == version
    assert chart["version"].partition("+")[2] == f"reporter.{version}"
    heads = re.findall(r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert heads[0] in ("Unreleased", version)
    assert len(heads) == len(set(heads))


def test_the_image_is_built_and_measured_before_each_merge_and_release():
    content = yaml.safe_load((ROOT / ".github/workflows/test.yaml").read_text())
    assert {"pull_request", "workflow_call"} <= set(content[True])  # YAML 1.1 reads `on` so
    runs = [step.get("run", "") for step in content["jobs"]["image"]["steps"]]
    assert [line for line in runs if "IMAGE_BASE=dockerfile make test-image" in line]


def test_the_chart_is_installed_on_a_real_node_before_each_merge():
    content = yaml.safe_load((ROOT / ".github/workflows/test.yaml").read_text())
    runs = [step.get("run", "") for step in content["jobs"]["node"]["steps"]]
    assert [line for line in runs if line.endswith("IMAGE_BASE=dockerfile make e2e-node-quick")]


def test_a_real_node_that_was_never_seen_to_work_blocks_no_release():
    text = (ROOT / ".github/workflows/test.yaml").read_text()
    unseen = "  node: # NOT YET SEEN TO WORK" in text
    assert yaml.safe_load(text)["jobs"]["node"].get("continue-on-error", False) is unseen


def test_what_runs_at_night_is_all_that_make_nightly_runs():
    content = yaml.safe_load((ROOT / ".github/workflows/nightly.yaml").read_text())
    assert content[True]["schedule"]
    targets = content["jobs"]["nightly"]["strategy"]["matrix"]["target"]
    (rule,) = re.findall(r"^nightly: ([^#]+)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    steps = content["jobs"]["node"]["steps"]
    assert [each for each in steps if each.get("run", "").endswith("make e2e-node")]
    assert [*targets, "e2e-node"] == rule.split()


def test_the_fast_tests_run_on_the_python_of_the_image_before_each_release():
    content = yaml.safe_load((ROOT / ".github/workflows/test.yaml").read_text())
    steps = content["jobs"]["image-python"]["steps"]
    assert "make quick-image-python" in [step.get("run") for step in steps]
    (version,) = (step["with"]["python-version"] for step in steps if "with" in step)
    assert f"ARG BASE=python:{version}-" in (ROOT / "Dockerfile").read_text()


def test_make_says_what_it_does_before_each_step_that_is_silent(tmp_path):
    made = f"VENV={tmp_path / 'venv'}"
    printed = subprocess.run(
        ["make", "--dry-run", "-f", ROOT / "Makefile", "run", made],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    lines = printed.stdout.splitlines()
    silent = [number for number, line in enumerate(lines) if "pip install --quiet" in line]
    assert len(silent) == 2
    assert all(any("echo" in line for line in lines[max(0, n - 2) : n]) for n in silent)
    started = next(number for number, line in enumerate(lines) if "-m devcluster" in line)
    assert "echo" in lines[started - 1]


def test_dependencies_and_base_are_audited_each_week_and_when_they_change():
    content = yaml.safe_load((ROOT / ".github/workflows/audit.yaml").read_text())
    assert content[True]["schedule"]
    assert {"requirements*.lock", "Dockerfile"} <= set(content[True]["pull_request"]["paths"])
    assert "make audit" in [step.get("run") for step in content["jobs"]["audit"]["steps"]]
    printed = subprocess.run(
        ["make", "--dry-run", "-f", ROOT / "Makefile", "audit"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    for each in ("e2e.release.base_support", "requirements.run.lock", "requirements.lock"):
        assert each in printed.stdout


def test_renovate_renews_what_is_pinned():
    renovate = json.loads((ROOT / "renovate.json").read_text())
    patterns = {
        name: [re.compile(each.strip("/")) for each in renovate[name]["managerFilePatterns"]]
        for name in ("pip-compile", "pip_requirements")
    }
    locks = {path.name for path in ROOT.glob("requirements*.lock")}
    found = [
        lock for each in patterns.values() for lock in locks if any(p.search(lock) for p in each)
    ]
    assert sorted(found) == sorted(locks)
    assert {*patterns, "gomod", "custom.regex"} <= set(renovate["enabledManagers"])
    assert renovate["pip-compile"]["lockFileMaintenance"]["enabled"]
    text = "\n".join(path.read_text() for path in WORKFLOWS)
    matched = {
        match["depName"]
        for manager in renovate["customManagers"]
        for pattern in manager["matchStrings"]
        for match in re.finditer(pattern.replace("(?<", "(?P<"), text)
    }
    assert matched == {
        "github.com/anchore/grype",
        "sigs.k8s.io/kind",
        "oras.land/oras",
        "pip-audit",
    }
    assert len(re.findall(r"go install|pipx install", text)) == len(matched)


def test_the_base_of_the_image_is_a_digest_that_renovate_renews():
    dockerfile = (ROOT / "Dockerfile").read_text().splitlines()
    assert [line for line in dockerfile if BASE.match(line)]
    renovate = json.loads((ROOT / "renovate.json").read_text())
    assert {"dockerfile", "github-actions"} <= set(renovate["enabledManagers"])
    (rule,) = (
        each
        for each in renovate["packageRules"]
        if each.get("matchManagers") == ["dockerfile"] and "digest" in each["matchUpdateTypes"]
    )
    assert rule.get("enabled", True)
    assert rule["schedule"] == ["at any time"]
