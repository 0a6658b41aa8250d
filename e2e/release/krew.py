"""
Write the kubectl plugin for krew: an archive with the wheel, and the manifest that names its hash.

With ``python -m e2e.release.krew DIRECTORY --homepage=URL``, in whose directory the wheel is. krew installs
programs of any language from an archive; this one has the wheel and a shell script that installs it.
"""

import argparse
import hashlib
import tarfile
from pathlib import Path
from typing import Any

import yaml


ROOT = Path(__file__).parents[2]
PLUGIN = "productionstack-status"
"""The name for krew, which links the program as kubectl finds it: with an underscore."""

PROGRAM = "kubectl-productionstack_status"
LAUNCHER = Path(__file__).parent / PROGRAM
API_VERSION = "krew.googlecontainertools.github.com/v1alpha2"
EXECUTABLE, PLAIN = 0o755, 0o644

CAVEATS = """\
It needs Python 3.11 or newer. The first call installs its packages beside it with pip, by their hashes.
"""
DESCRIPTION = """\
Shows the status of a KAITO production stack, its namespaces and its models: what keeps a model from
answering, since when, and who must act. Without a name it is the command status; wait, explain, check, dump
and silence are its others. It asks the reporter of the cluster, or reads the cluster itself.
"""


def write_plugin(directory: Path, homepage: str) -> Path:
    """Write the archive and the manifest beside the wheel of a folder, and return the manifest."""
    (wheel,) = directory.glob("*.whl")
    version = wheel.name.split("-")[1]
    archive = directory / f"{PLUGIN}.tar.gz"
    files = (LAUNCHER, wheel, ROOT / "requirements.run.lock", ROOT / "LICENSE")
    with tarfile.open(archive, "w:gz") as content:
        for each in files:
            content.add(each, each.name, filter=_plain)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    uri = f"{homepage.rstrip('/')}/releases/download/v{version}/{archive.name}"
    manifest = directory / f"{PLUGIN}.yaml"
    manifest.write_text(yaml.safe_dump(_manifest(version, homepage, uri, digest), sort_keys=False))
    return manifest


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out whose files they were, and when."""
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = EXECUTABLE if member.name == PROGRAM else PLAIN
    return member


def _manifest(version: str, homepage: str, uri: str, digest: str) -> dict[str, Any]:
    systems = {"key": "os", "operator": "In", "values": ["linux", "darwin"]}
    return {
        "apiVersion": API_VERSION,
        "kind": "Plugin",
        "metadata": {"name": PLUGIN},
        "spec": {
            "version": f"v{version}",
            "homepage": homepage,
            "shortDescription": "Show what keeps a KAITO model from answering",
            "description": DESCRIPTION,
            "caveats": CAVEATS,
            "platforms": [
                {
                    "selector": {"matchExpressions": [systems]},
                    "uri": uri,
                    "sha256": digest,
                    "bin": PROGRAM,
                }
            ],
        },
    }


def main() -> None:
    """Write the plugin, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--homepage", required=True)
    arguments = parser.parse_args()
    print(write_plugin(arguments.directory, arguments.homepage))


if __name__ == "__main__":
    main()
