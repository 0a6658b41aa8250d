"""Tests of the Helm chart, and the programs that generate parts of it."""

from pathlib import Path


CHART = Path(__file__).parents[2] / "helm" / "productionstack-status-reporter"
HUB_CHART = CHART.with_name("productionstack-status-hub")
CRD_CHART = CHART.with_name("productionstack-status-crds")
