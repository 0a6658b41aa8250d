"""
Decisions of a Job's sidecar, about the file, the status and the end of the container beside it.

It answers: does this file, container status and time mean to wait, to report or to leave?
"""
