"""
Pages and schemas rendered from the catalogue.

It answers: how do its files become the documents that people read?
"""
