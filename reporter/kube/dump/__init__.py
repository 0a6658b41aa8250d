"""
Objects from files that kubectl and must-gather wrote, instead of from an API server.

It answers: which objects does a dump hold, and of which kinds and namespaces does it say nothing?
"""
