"""
The controllers of a production stack, on the real control plane.

KAITO's workspace controller and KEDA as they are released, and Karpenter's core with kwok's provider and a
cloud that refuses, run as processes of this machine, and so does the inference extension's endpoint picker,
which writes no status: what its probes answer and how it ends is compared with our remedies. istiod is taken
out of the image of its release, since the Go module proxy has no version of its module. kwok stands in for
nodes, pods and Envoy, and the tests for the cloud's load balancers and for keda-kaito-scaler.
"""
