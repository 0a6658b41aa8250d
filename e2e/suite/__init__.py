"""
Tests of what users rely on, for any cluster in which a reporter runs; they need only a kubeconfig.
"""
