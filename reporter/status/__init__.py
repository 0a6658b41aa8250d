"""
The status for those who ask: the sources that ``status`` reads, its tables, and the status objects.

It answers: what does the user see, and from whom does it come?
"""
