"""
The suite on kind. NOT YET SEEN TO WORK: written where kind cannot run.
"""
