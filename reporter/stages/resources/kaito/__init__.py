"""
The status of InferenceSets, Workspaces and NodeClaims.

It answers: how far are the replicas of a model?
"""
