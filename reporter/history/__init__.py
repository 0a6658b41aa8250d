"""
Keep each episode as a HealthEvent: decide which are created, patched and deleted, and write them.

``plan`` and what it uses decide. ``store_plan`` gives the writes that are due to the loop of the leader,
``kube.leader_writer``, and ``writer`` makes one write. ``node_events`` has the same episodes in NVSentinel's
kind, and ``node_event_publisher`` writes those.
"""
