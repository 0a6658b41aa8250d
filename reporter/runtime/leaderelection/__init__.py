"""
Leader election through a Lease, by the rules of client-go.

It answers: who leads, and since when?
"""
