"""
The newest observations: objects, served CRDs, scraped samples, and what happened to an object before.

It answers: what is known now, and which subjects does a change affect?
"""
