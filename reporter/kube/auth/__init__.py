"""
Servers and credentials, from kubeconfigs, files and plugins.

It answers: where is the API server, and who are we to it?
"""
