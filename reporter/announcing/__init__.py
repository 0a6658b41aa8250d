"""
From an evaluation to the Events to write, and the loop that writes them while this process leads.

- ``eligibility``: which findings may be announced, and which Ready Events are true.
- ``episodes``, ``announcement_state``, ``restore``: how an episode continues, begins, and survives a restart.
- ``grouping``: one Event for many InferenceSets.
- ``schedule``: when to write. ``compose`` and ``message``: what the Event contains.
- ``announcements``: the memory of all this between two passes.
- ``event_plan`` and ``event_writer``: the writes, and what becomes of a failed one.
- ``mirror``: the same Events beside the objects that they are about.
"""
