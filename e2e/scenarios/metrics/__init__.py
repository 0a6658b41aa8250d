"""The metrics page of a reporter on a real control plane."""
