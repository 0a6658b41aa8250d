"""
The Job sidecar: reads the result file of the container beside it, and writes a condition of the Job.

It answers: where do the file, the pod and the signals come from, and how is the condition written?
"""
