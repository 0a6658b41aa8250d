"""
The newest observations: objects, served CRDs, scraped samples.

It answers: what is known now, and which subjects does a change affect?
"""
