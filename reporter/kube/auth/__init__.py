"""
Servers and credentials, from kubeconfigs, files and plugins.

It answers: where is the API server, and who are we to it?
"""

from reporter.kube.auth.home import with_any_home


with with_any_home():
    # It computes the path of ~/.kube/config when it is imported, and fails without a home.
    import kubernetes.aio.config  # noqa: F401
