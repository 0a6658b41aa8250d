"""
What a Job's sidecar reports of the container beside it, and when.

It answers: does this file, container status and time mean to wait, to report or to leave?
"""
