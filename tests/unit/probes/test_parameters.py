"""The parameters of engine probes as an overlay writes them."""

import pytest

from reporter.cli.configuration import load_shipped_catalogue
from reporter.settings.errors import SettingsError


def load(folder, parameters: str):
    file = folder / "overlay.yaml"
    file.write_text(
        f"reasons:\n  inferencesetEngineStalled:\n    parameters: {{ {parameters} }}\n"
    )
    return load_shipped_catalogue(file)


@pytest.mark.parametrize("pages", ["0", "30", "100"])
def test_as_many_pages_as_are_kept_can_be_asked_for(tmp_path, pages):
    entry = load(tmp_path, f"min-pages: {pages}")["inferencesetEngineStalled"]
    assert entry.parameters.kept_pages == int(pages)


@pytest.mark.parametrize("pages", ["101", "-1", "1e9"])
def test_a_number_of_pages_that_nobody_keeps_is_refused_with_what_to_write(tmp_path, pages):
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, f"min-pages: {pages}")
    problem = str(caught.value).splitlines()[-1]
    assert "overlay.yaml:3: inferencesetEngineStalled: parameters: `min-pages` is" in problem
    assert problem.endswith("it must be a number from 0 to 100")
