"""
The terms of the API server: paths, times, errors, Retry-After.

It answers: what does this response mean, and when may we ask again?
"""
