"""
The demo's output.

It answers: what does the user see?
"""
