"""
The status of Deployments and pods.

It answers: what keeps this workload from being ready?
"""
