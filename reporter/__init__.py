"""
Say once, as Kubernetes Events, why a KAITO production stack does not serve.
"""
