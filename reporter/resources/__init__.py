"""
The reading of an object's own status, for all probes.

It answers: what does this object say of itself, and is it current?
"""
