"""
Lists and watches of one kind, as in client-go's reflector.

It answers: how do objects get into the store, and when is a watch lost?
"""
