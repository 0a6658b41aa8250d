"""
The HTTP side of the API server in memory.

It answers: what is the response to this request?
"""
