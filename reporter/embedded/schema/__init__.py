"""
The kinds of the embedded API server and their rules.

It answers: is this object valid, and what is stored for it?
"""
