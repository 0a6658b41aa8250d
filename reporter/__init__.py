"""Say once, as Kubernetes Events, why a KAITO production stack does not serve."""

PROGRAM_NAME = "productionstack-status-reporter"
"""The name of the command, of the distribution and of the component in our Events."""
