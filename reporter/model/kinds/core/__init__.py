"""
Kinds of Kubernetes itself: Namespaces, Deployments, Pods.

Each module says which fields are read.
"""
