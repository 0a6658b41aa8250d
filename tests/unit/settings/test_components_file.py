"""The file that names the Deployments of the control plane, in place of two flags for each."""

from pathlib import Path

import pytest

from reporter.settings import SettingsError, load_settings
from reporter.settings.components_file import COMPONENT_FLAGS
from reporter.settings.settings import FLAGS


def written(folder: Path, text: str) -> str:
    file = folder / "components.yaml"
    file.write_text(text)
    return f"--components-file={file}"


def test_the_pairs_of_the_file_are_the_flags(tmp_path: Path):
    given = written(tmp_path, "kaito: models/workspace\nkeda: scaling\nbbr:\nistio: mesh\n")
    settings = load_settings([given], {})
    assert (settings.kaito_namespace, settings.kaito_deployment) == ("models", "workspace")
    assert settings.keda_namespace == "scaling"
    assert (settings.istio_namespace, settings.istiod_deployment) == ("mesh", "istiod")
    assert settings.bbr_deployment == ""
    assert any("the body-based router is not checked" in note for note in settings.notes)
    assert {"kaito-namespace", "kaito-deployment"} <= settings.given_flags
    assert settings.flag_texts["kaito-deployment"] == "workspace"


def test_flags_and_variables_win(tmp_path: Path):
    given = written(tmp_path, "kaito: models/workspace\n")
    settings = load_settings(
        [given, "--kaito-namespace=other"], {"STATUS_REPORTER_KAITO_DEPLOYMENT": "third"}
    )
    assert (settings.kaito_namespace, settings.kaito_deployment) == ("other", "third")


@pytest.mark.parametrize("text", ["", "null\n", "{}\n"])
def test_it_may_be_named_by_its_variable_and_be_empty(tmp_path: Path, text: str):
    path = written(tmp_path, text).partition("=")[2]
    settings = load_settings([], {"STATUS_REPORTER_COMPONENTS_FILE": path})
    assert settings.kaito_deployment == "kaito-workspace"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kiato: a/b\n", "there is no component 'kiato'; did you mean kaito?"),
        ("kaito: a/b/c\n", "kaito: must be NAMESPACE/DEPLOYMENT"),
        ("kaito: 1\n", "kaito: must be NAMESPACE/DEPLOYMENT"),
        ("kaito: kube-system/\n", "kaito: must be NAMESPACE/DEPLOYMENT, or empty: not checked"),
        ("kaito: /kaito-workspace\n", "kaito: must be NAMESPACE/DEPLOYMENT"),
        ("keda: scaling/\n", "keda: must be NAMESPACE/DEPLOYMENT"),
        ("kaito: a/b\nbbr: c/d\n'kaito': e/f\n", "names kaito twice; remove one"),
        ("keda: a/b\n", "keda: name its namespace alone"),
        ("kaito: a/B\n", "kaito: --kaito-deployment=B: "),
        ("- kaito\n", "must be lines such as"),
        ("kaito: [\n", "is not YAML"),
        (f"kaito: {'x' * 70_000}\n", "has more than 65536 bytes"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, text: str, expected: str):
    given = written(tmp_path, text)
    with pytest.raises(SettingsError) as err:
        load_settings([given], {})
    assert str(err.value).startswith(given)
    assert expected in str(err.value)


def test_a_file_that_is_not_there_is_refused():
    with pytest.raises(SettingsError, match="there is no such file"):
        load_settings(["--components-file=/nonexistent/x"], {})


def test_every_flag_of_a_component_has_its_place_in_the_file():
    flags = {flag for pair in COMPONENT_FLAGS.values() for flag in pair if flag}
    names = {flag.name for flag in FLAGS}
    assert flags <= names
    ends = ("-namespace", "-deployment", "-provisioner-name")
    others = {"release-namespace"}
    assert {name for name in names if name.endswith(ends)} - others == flags
