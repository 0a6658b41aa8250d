"""
The status of ScaledObjects, and the scaling annotations of an InferenceSet.

It answers: can this model scale?
"""
