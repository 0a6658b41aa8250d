"""
YAML files as typed values.

It answers: what does the file contain, and which line is wrong?
"""
