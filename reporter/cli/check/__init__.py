"""The command check: one evaluation of one cluster, or of several side by side, for pipelines."""
