"""
The Job sidecar: reads the result file of the container beside it, and writes a condition of the Job.

`steps` decides by the file, the container's status and the time: to wait, to report or to leave.
"""
