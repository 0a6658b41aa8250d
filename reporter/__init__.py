"""Say once, as Kubernetes Events, why a KAITO production stack does not serve."""

PROGRAM_NAME = "productionstack-status-reporter"
"""The name of the command, of the distribution and of the component in our Events."""

PROGRAM_VERSION = "0.1.0"
"""The version in pyproject.toml. Metadata of the distribution have it too, and take longer to read."""
