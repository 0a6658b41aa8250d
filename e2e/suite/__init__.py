"""
What users rely on, on any cluster in which a reporter runs: it needs nothing but a kubeconfig.
"""
