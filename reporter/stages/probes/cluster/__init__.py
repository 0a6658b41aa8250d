"""
Probes of the control plane's components.

They answer: does everything work that all models share?
"""
