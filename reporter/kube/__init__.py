"""
Everything that talks to the API server.

Credentials and requests (`rest_config`, `client`), lists and watches (`reflector`), discovery, the objects
that this program writes or asks for, and the terms of the server: errors, times, Retry-After. Nothing here
decides what is wrong.
"""
