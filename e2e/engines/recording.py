"""Write the recorded pages of vLLM, if what a release writes is another than before."""

import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from e2e.engines import simulator
from e2e.engines.releases import Release, sources
from reporter.stories.metrics_pages import PAGES


SCRIPT = Path(__file__).parent / "vllm_page.py"
_NAMED = ("prometheus_client", "prometheus_fastapi_instrumentator")
_PROCESS = re.compile(r'pid="(\d+)"')


def record(release: Release) -> str:
    """Record the page of a release of vLLM, and return how it differs from before."""
    return _write(release.page, f"vLLM {release.version}", page(release), _heading(release))


def record_simulator() -> str:
    """Record the page of the simulator, and return how it differs from before."""
    program = f"{simulator.PROGRAM} {simulator.version()}"
    heading = (
        f"# {program}: recorded on {_today()} by `make record-engines` from the running program.\n"
    )
    return _write(simulator.PAGE, program, simulator.page(), heading)


def _write(name: str, program: str, made: str, heading: str) -> str:
    file = PAGES / f"{name}.txt"
    before = file.read_text("utf-8") if file.exists() else ""
    old, new = series(before), series(made)
    if old == new and re.match(rf"# {re.escape(program)}[,:]", before):
        return f"{file.name}: as recorded"
    file.write_text(heading + made, "utf-8")
    told = [f"  - {each}" for each in sorted(old - new)]
    told += [f"  + {each}" for each in sorted(new - old)] if old else []
    return "\n".join([f"{file.name}: written anew with {program}", *told])


def page(release: Release) -> str:
    """Return the page that a release writes, with the processes numbered from 1."""
    places = ":".join(map(str, sources(release.version)))
    given = dict(each.split("=", 1) for each in release.environment)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": places, **given}
    numbers = map(str, (release.engines, release.processes))
    command = [sys.executable, "-SP", str(SCRIPT), release.engine, *numbers]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"vLLM {release.version}: {done.stderr}")
    seen = list(dict.fromkeys(_PROCESS.findall(done.stdout)))
    return _PROCESS.sub(lambda found: f'pid="{seen.index(found[1]) + 1}"', done.stdout)


def series(text: str) -> frozenset[str]:
    """
    Return types, help texts, names and labels of a page, without its numbers.

    Several processes write their lines in no certain order.
    """
    lines = (each for each in text.splitlines() if not re.match(r"# (?!HELP|TYPE)", each))
    return frozenset(each if each.startswith("#") else each.rpartition(" ")[0] for each in lines)


def _heading(release: Release) -> str:
    _, packages = sources(release.version)
    used = ", ".join(_version(packages, each) for each in _NAMED)
    options = {"data-parallel-size": release.engines, "api-server-count": release.processes}
    given = [f"--{name}={number}" for name, number in options.items() if number > 1]
    given += release.environment
    return (
        f"# vLLM {release.version}, engine {release.engine.upper()}: recorded on {_today()} by `make record-engines`"
        f" with the classes of its wheel, {used}.\n"
        f"# Without a GPU: requests and steps are those of e2e/engines/vllm_page.py."
        f" Options: {' '.join(given) or 'none'}.\n"
    )


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _version(packages: Path, name: str) -> str:
    (found,) = packages.glob(f"{name}-*.dist-info")
    return found.name.removesuffix(".dist-info").replace("-", " ")
