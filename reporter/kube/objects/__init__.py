"""
The objects that this program writes or asks for: Events, the Lease, access reviews.

It answers: what do they look like on the wire?
"""
