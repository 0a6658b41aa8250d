"""
The controllers of a production stack, on the real control plane.

KAITO's workspace controller and KEDA as they are released, and Karpenter's core with kwok's provider and a
cloud that refuses, run as processes of this machine, and so does the inference extension's endpoint picker,
which writes no status: what its probes answer and how it ends is compared with our remedies. kwok stands in
for nodes and pods, and the tests for istiod and keda-kaito-scaler, which are not run: neither is a Go module
that the module proxy serves.
"""
