"""
From an evaluation to the Events to write, and the loop that writes them while this process leads.

- ``eligibility``: which findings may be announced, and which Ready Events are true.
- ``episodes``, ``outcome``, ``restore``: how an episode continues, begins, and survives a restart.
- ``grouping``: one Event for many InferenceSets.
- ``schedule`` and ``rate_limit``: when to write.
- ``compose`` and ``message``: what the Event contains.
- ``announcements``: the memory of all this between two passes.
- ``publisher``, ``event_writer``, ``refusals``: the writes, and what becomes of a failed one.
"""
