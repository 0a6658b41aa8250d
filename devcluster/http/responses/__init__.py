"""
The bodies of responses: discovery, objects, lists, tables.

They answer: in which form is an object sent?
"""
