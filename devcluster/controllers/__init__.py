"""
The controllers and the kubelet of the API server in memory.

They answer: what do Deployments and pods do after a write?
"""
