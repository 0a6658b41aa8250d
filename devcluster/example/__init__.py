"""
The healthy example stack of the demo and of tests.

It answers: which objects does a stack consist of?
"""
