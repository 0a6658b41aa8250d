"""
The catalogue's files become entries, or are refused with file, line and what to do.

``load`` in ``loader`` is the way in. Nothing here knows what a probe does: what it must know of one
is handed in as ProbeSpec.
"""
