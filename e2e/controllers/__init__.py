"""
The controllers of a production stack as they are released, on the real control plane.

KAITO's workspace controller, Karpenter and KEDA run as processes of this machine. kwok stands in for
nodes and pods, the cloud of Karpenter for machines, and the tests for Istio and the scaler of KAITO,
whose modules the Go proxy does not serve.
"""
