"""
The controllers and the kubelet of the embedded API server.

They answer: what do Deployments and pods do after a write?
"""
