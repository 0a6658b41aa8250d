"""
The Helm chart: what of it is generated, and what is tested of it.
"""

from pathlib import Path


CHART = Path(__file__).parents[2] / "helm" / "productionstack-status-reporter"
