"""
The immutable input of a pass.

It answers: which objects, subjects and scrape targets are there at one moment?
"""
