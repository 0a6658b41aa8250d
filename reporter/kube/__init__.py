"""
The client of the Kubernetes API, and the scraper.

It answers: how does the program read from a cluster and write to it?
"""
