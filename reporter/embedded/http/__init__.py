"""
The HTTP side of the embedded API server.

It answers: what is the response to this request?
"""
