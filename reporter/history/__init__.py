"""
Each episode as a HealthEvent: which are created, patched and deleted, and the loop that writes them.

``plan`` and what it uses decide; ``publisher`` writes while this process leads. ``node_events`` is the
same record in NVSentinel's words.
"""
