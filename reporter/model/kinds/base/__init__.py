"""
The parts that all kinds share: objects, conditions, index keys, owners.

See here how a kind is declared.
"""
