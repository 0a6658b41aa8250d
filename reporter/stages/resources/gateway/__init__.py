"""
The status of Gateways, routes and access rules.

It answers: are they accepted, programmed and resolved?
"""
