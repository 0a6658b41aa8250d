"""
The stored objects and their versions.

It answers: what does a read, list, watch or write of the API server in memory find?
"""
