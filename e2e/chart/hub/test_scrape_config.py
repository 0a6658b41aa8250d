"""The configuration in docs/hub.md is one that Prometheus takes."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from e2e.chart import CHART
from e2e.controlplane import assets
from reporter.hub.queries import PREFIX


pytestmark = pytest.mark.controlplane

PAGE = (CHART.parents[1] / "docs" / "hub.md").read_text("utf-8")
BLOCKS = [
    [each for each in yaml.safe_load_all(text) if each]
    for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
]


def test_prometheus_takes_it(tmp_path: Path) -> None:
    """The Prometheus of the tests has no discovery of pods, so that is replaced."""
    ((config,),) = (block for block in BLOCKS if "scrape_configs" in block[0])
    (job,) = config["scrape_configs"]
    assert job.pop("kubernetes_sd_configs") == [{"role": "pod"}]
    job["static_configs"] = [{"targets": ["127.0.0.1:8080"]}]
    file = tmp_path / "prometheus.yaml"
    file.write_text(json.dumps(config))
    words = [assets.program("promtool"), "check", "config", str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_all_configurations_keep_the_series_that_a_hub_asks_for() -> None:
    kept = re.findall(r"regex: (productionstack\S+rollup\S+)", PAGE)
    assert len(kept) == 2
    for each in kept:
        assert re.fullmatch(each, f"{PREFIX}state")
        assert not re.fullmatch(each, "productionstack_status_reporter_finding")
