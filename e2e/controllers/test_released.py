"""A program of a release, taken out of its image."""

import io
import secrets
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from e2e.controllers import released
from e2e.controllers.released import Released, ReleaseMissing
from e2e.controlplane import assets
from e2e.support.registry import Registry


pytestmark = pytest.mark.slow
CONTENT = b"#!/bin/sh\necho 1.2.3\n"
PROGRAM = "usr/local/bin/an-example"


def _push(folder: Path, reference: str) -> None:
    """Push an image with the program, and a device beside it that nobody may make."""
    layer = folder / "layer.tar"
    with tarfile.open(layer, "w") as archive:
        for name, kind in (("dev/null", tarfile.CHRTYPE), (PROGRAM, tarfile.REGTYPE)):
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode = kind, 0o755
            entry.size = len(CONTENT) if kind == tarfile.REGTYPE else 0
            archive.addfile(entry, io.BytesIO(CONTENT))
    words = ("append", f"--new_layer={layer}", f"--new_tag={reference}")
    subprocess.run([assets.program("crane"), *words], check=True, capture_output=True)


def _released(image: str, program: str = PROGRAM) -> Released:
    return Released(f"example-{secrets.token_hex(4)}", "v1.2.3", image, program, ("version",))


def test_a_program_is_taken_out_of_its_image_once(tmp_path: Path) -> None:
    with Registry(tmp_path) as registry:
        example = _released(f"{registry.host}/team/example:1.2.3")
        _push(tmp_path, example.image)
        assert released.find(example) is None
        taken = released.find_or_take(example)
    try:
        assert taken.read_bytes() == CONTENT
        assert subprocess.run([taken], capture_output=True, check=True).stdout == b"1.2.3\n"
        assert released.find_or_take(example) == taken  # the registry is gone
        assert [each.name for each in taken.parent.iterdir()] == [taken.name]
    finally:
        shutil.rmtree(taken.parent)


def test_it_is_said_which_image_cannot_be_had_or_lacks_the_program(tmp_path: Path) -> None:
    with Registry(tmp_path) as registry:
        lacking = _released(f"{registry.host}/team/example:1.2.3", "usr/bin/nosuch")
        _push(tmp_path, lacking.image)
        with pytest.raises(ReleaseMissing, match=r"example:1\.2\.3 has no usr/bin/nosuch"):
            released.find_or_take(lacking)
    with pytest.raises(ReleaseMissing, match=r"^localhost:\d+/team/example:1\.2\.3: "):
        released.find_or_take(lacking)
    assert not released.find(lacking)


def test_a_program_on_the_path_counts_only_with_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    example = _released("registry.example/team/example:1.2.3")
    installed = tmp_path / example.file
    installed.write_bytes(CONTENT)
    installed.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert released.find(example) == installed
    installed.write_bytes(CONTENT.replace(b"1.2.3", b"1.2.2"))
    assert released.find(example) is None
