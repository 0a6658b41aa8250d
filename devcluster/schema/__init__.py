"""
The kinds of the API server in memory and their rules.

It answers: is this object valid, and what is stored for it?
"""
