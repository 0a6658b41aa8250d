"""
Requests, connections and certificates.

It answers: how does a request get to the API server and its response back?
"""
